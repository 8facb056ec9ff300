"""Tables and queries for the tests of the FTS5 auxiliary functions.

The oracle for a set of columns is a second table that has only these columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import apsw
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf

COLUMNS = ("a", "b", "c", "d")
WORDS = ("one", "two", "three", "four", "fore")

Row = tuple[str | None, ...]


# ---- generators ------------------------------------------------------------------------

texts = st.one_of(st.none(), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
tables = st.lists(st.tuples(*[texts] * len(COLUMNS)), min_size=1, max_size=12)
sets = st.permutations(range(len(COLUMNS))).flatmap(
    lambda order: st.integers(1, len(COLUMNS)).map(lambda n: tuple(order[:n]))
)
weights = st.lists(
    st.floats(min_value=0, max_value=20, allow_nan=False).map(lambda x: round(x, 3)), max_size=4
)

phrases = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map(lambda word: "^" + word),
    st.sampled_from(["t", "fo", "f", "on"]).map(lambda start: start + "*"),
    st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map(" + ".join),
)
nears = (
    st.tuples(phrases, phrases, st.integers(0, 3))
    .filter(lambda near: "^" not in near[0] + near[1])
    .map(lambda near: f"NEAR({near[0]} {near[1]}, {near[2]})")
)


def queries(names: Sequence[str]) -> st.SearchStrategy[str]:
    """FTS5 queries whose column filters name no other columns than these.

    Only those for which FTS5 reports the same hits of a row whatever the other rows are. It
    does not for NEAR and NOT below OR (hits of groups that do not match, or of an earlier
    row) and for OR below an inner AND (hits lost where an earlier row did not match).
    """
    filters = st.lists(st.sampled_from(names), min_size=1, unique=True).map(
        lambda chosen: "{" + " ".join(chosen) + "}"
    )
    groups = filtered(filters, nears)
    leaves = st.lists(filtered(filters, phrases), min_size=1, max_size=3)
    ands = leaves.map(" AND ".join)
    ors = st.lists(ands, min_size=1, max_size=3).map(" OR ".join)
    return st.one_of(
        ors,
        groups,
        st.tuples(groups, ors).map(lambda pair: f"{pair[0]} AND ({pair[1]})"),
        st.tuples(ors, ors).map(lambda pair: f"({pair[0]}) NOT ({pair[1]})"),
    )


def filtered(
    filters: st.SearchStrategy[str], inner: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    return st.one_of(inner, st.tuples(filters, inner).map(" : ".join))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Row], tuple[int, ...], str]:
    chosen = draw(sets)
    query = draw(queries([COLUMNS[i] for i in chosen]))
    return draw(tables), chosen, query


# ---- tables ----------------------------------------------------------------------------


def create(
    connection: apsw.Connection, name: str, rows: Sequence[Sequence[Any]], options: str = ""
) -> None:
    """A table over the first columns, with its rows from rowid 1 on."""
    names = COLUMNS[: len(rows[0])]
    connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5({', '.join(names)}{options})")
    fill(connection, name, rows)


def fill(connection: apsw.Connection, name: str, rows: Sequence[Sequence[Any]]) -> None:
    holes = ", ".join("?" * (len(rows[0]) + 1))
    names = ", ".join(("rowid", *COLUMNS[: len(rows[0])]))
    connection.executemany(
        f"INSERT INTO {name}({names}) VALUES ({holes})",
        [(number, *row) for number, row in enumerate(rows, 1)],
    )


def small_table(connection: apsw.Connection) -> apsw.Connection:
    """Three rows of three columns in ``t``."""
    rows = [("one two", "one", "three"), ("two", "two one two", ""), ("four", "", "one")]
    create(connection, "t", rows)
    return connection


def reduce(connection: apsw.Connection, rows: Sequence[Row], chosen: Sequence[int]) -> None:
    """The oracle's table ``reduced``: the same rows with the chosen columns only."""
    names = [COLUMNS[i] for i in chosen]
    connection.execute(f"CREATE VIRTUAL TABLE reduced USING fts5({', '.join(names)})")
    connection.executemany(
        f"INSERT INTO reduced(rowid, {', '.join(names)})"
        f" VALUES ({', '.join('?' * (len(names) + 1))})",
        [(number, *(row[i] for i in chosen)) for number, row in enumerate(rows, 1)],
    )


def numbers(chosen: Sequence[int]) -> str:
    return " ".join(map(str, chosen))


def within(chosen: Sequence[int], query: str) -> str:
    """The query with each phrase limited to the chosen columns."""
    return "{" + " ".join(COLUMNS[i] for i in chosen) + "} : (" + query + ")"


def ranks(connection: apsw.Connection, sql: str, *values: Any) -> dict[int, float]:
    return dict(connection.execute(sql, values))


def assert_same_ranks(found: dict[int, float], expected: dict[int, float]) -> None:
    assert found.keys() == expected.keys()
    for rowid, rank in expected.items():
        assert math.isclose(found[rowid], rank, rel_tol=1e-12, abs_tol=0), rowid


def contentless(connection: apsw.Connection, options: str) -> None:
    create(connection, "t", [("one two", "one"), ("two", "two")], f", content=''{options}")


class Opened:
    """A connection with the functions for one example of a property test."""

    def __enter__(self) -> apsw.Connection:
        self.connection = apsw.Connection(":memory:")
        rf.load(self.connection)
        return self.connection

    def __exit__(self, *problem: object) -> None:
        self.connection.close()


property_test = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
