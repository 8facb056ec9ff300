"""reasoning_scan gives the rows, ranks and origins that an FTS5 table over the source gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import apsw
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Spec, Value

import sqlite_reasoning_fts as rf


@pytest.fixture(scope="module")
def shared() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    yield connection
    connection.close()


def fill(connection: apsw.Connection, spec: Spec, rows: list[tuple[Value, ...]]) -> None:
    """A table, a view over it, and an FTS5 table with the same rows; rowids have gaps."""
    names = ", ".join(spec.columns)
    marks = ", ".join("?" * (len(spec.columns) + 1))
    connection.execute(
        "DROP TABLE IF EXISTS source; DROP VIEW IF EXISTS seen; DROP TABLE IF EXISTS real"
    )
    connection.execute(f"CREATE TABLE source(id INTEGER PRIMARY KEY, {names})")
    connection.execute(f"CREATE VIEW seen AS SELECT id AS rowid, {names} FROM source")
    connection.execute(f"CREATE VIRTUAL TABLE real USING fts5({spec.text})")
    connection.executemany(
        f"INSERT INTO source VALUES ({marks})",
        [(number * 7 - 20, *row) for number, row in enumerate(rows)],
    )
    connection.execute(f"INSERT INTO real(rowid, {names}) SELECT * FROM source")


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), spec=oracle.specs, source=st.sampled_from(["source", "main.seen"]))
def test_rows_ranks_and_origins_are_those_of_fts5(
    shared: apsw.Connection, data: st.DataObject, spec: Spec, source: str
) -> None:
    fill(shared, spec, data.draw(st.lists(oracle.rows(spec), max_size=12)))
    column = str(data.draw(st.integers(0, len(spec.columns) - 1)))
    for query in data.draw(st.lists(oracle.queries(spec.columns), min_size=3, max_size=3)):
        try:
            expected = shared.execute(
                "SELECT rowid, bm25(real), reasoning_origin(real, ?) FROM real WHERE real MATCH ?"
                " ORDER BY rowid",
                (column, query),
            ).fetchall()
        except apsw.SQLError:
            continue
        scan = "SELECT rowid, rank, origin FROM reasoning_scan(?, ?, ?, ?)"
        values = (query, source, spec.text, column)
        got = shared.execute(f"{scan} ORDER BY rowid", values).fetchall()
        assert [row[0] for row in got] == [row[0] for row in expected]
        ranked = shared.execute(f"{scan} ORDER BY rank, rowid", values).fetchall()
        assert ranked == sorted(got, key=lambda row: (row[1], row[0]))
        unranked = "SELECT rowid, origin FROM reasoning_scan(?, ?, ?, ?) ORDER BY rowid DESC"
        newest = shared.execute(unranked, values).fetchall()
        assert newest == [(row[0], row[2]) for row in reversed(got)]
        if oracle.has_stable_hits(shared, spec, query):
            assert [row[2] for row in got] == [row[2] for row in expected]
            for row, real in zip(got, expected, strict=True):
                assert row[1] == pytest.approx(real[1], rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "query",
    ["one OR two NOT three", "(one NOT two) OR (two NOT one)", "one NOT (two OR (three NOT one))",
     "one OR NEAR(two three, 1)", "NEAR(one two, 0) OR three", "one NOT NEAR(two three, 0)",
     "(one AND two) OR three", "((one OR two) AND three) OR one", '"one two" OR two + three*',
     "one OR (two NOT (three AND one))", "a : one OR b : two NOT a : three"],
)  # fmt: skip
def test_hits_of_what_did_not_match_do_not_count(shared: apsw.Connection, query: str) -> None:
    every = [" ".join(words) for size in range(4)
             for words in itertools.permutations(["one", "two", "three"], size)]  # fmt: skip
    fill(shared, Spec("a, b", ("a", "b")), list(itertools.product(every, every)))
    got = shared.execute(
        "SELECT rowid, rank FROM reasoning_scan(?, 'source', 'a, b') ORDER BY rowid", (query,)
    ).fetchall()
    real = shared.execute(
        "SELECT rowid, bm25(real) FROM real WHERE real MATCH ? ORDER BY rowid", (query,)
    ).fetchall()
    assert [row[0] for row in got] == [row[0] for row in real]
    assert [row[1] for row in got] == pytest.approx([row[1] for row in real], rel=1e-9, abs=0)
