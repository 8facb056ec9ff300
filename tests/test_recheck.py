"""How ``terms`` and ``blocks`` look at rows: as few as the order allows, and every stale one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tables import write_table

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.compare.building import BLOCKS_OF, ORACLE, TERMS, THOUGHT_ALL
from sqlite_reasoning_fts.compare.oracle import OracleTables
from sqlite_reasoning_fts.compare.workbench import Workbench
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.designs import Blocks, IndexTable, Rechecked, Terms
from sqlite_reasoning_fts.designs.candidates import ThoughtIndex, total_tokens
from sqlite_reasoning_fts.designs.recheck import BATCH_GROWTH, FIRST_BATCH
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.selection import select

SCHEMA = "CREATE TABLE m(said TEXT, thought TEXT, at REAL)"
ROWS = 1000
DESIGNS = ("terms", *(name.removeprefix("reasoning_").replace("_", "-") for name in BLOCKS_OF))


def thought(number: int) -> str | None:
    """The phrase "red fox" in every third row, both words apart in the others."""
    if number % 10 == 9:
        return None
    return "a red fox" if number % 3 == 0 else "the fox is not red"


def opened(path: Path, times: list[float | None]) -> rf.Archive:
    rows = [("x", thought(number), times[number]) for number in range(ROWS)]
    write_table(path, SCHEMA, rows)
    return rf.open(path, table="m", said=["said"], thought=["thought"], time="at")


@pytest.fixture(scope="module", params=["in order", "shuffled", "missing"])
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workbench]:
    times: dict[str, list[float | None]] = {
        "in order": [float(number) for number in range(ROWS)],
        "shuffled": [float(number * 7 % ROWS) for number in range(ROWS)],
        "missing": [None if number % 4 == 0 else float(number // 2) for number in range(ROWS)],
    }
    path = tmp_path_factory.mktemp("recheck") / "a.db"
    with opened(path, times[request.param]) as archive, archive._workbench() as opened_bench:
        opened_bench.build((*ORACLE, TERMS, *BLOCKS_OF))
        yield opened_bench


@pytest.mark.parametrize("limit", [1, 20, 1000])
@pytest.mark.parametrize("query", ["fox", '"red fox"', "NEAR(not red, 2)", "red NOT not", "wolf"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_newest_rows_are_the_oracles(
    bench: Workbench, design: str, query: str, limit: int
) -> None:
    reader = bench.reader
    asked = reader.parse(query, "fts5")
    oracle = OracleTables(reader, {"thought": bench.table(THOUGHT_ALL)})
    matches = bench.design(design).matches(asked, "thought", ranked=False)
    found = select(reader, matches, order="newest", limit=limit)
    expected = oracle.newest(asked, "thought")
    assert [row.key for row in found.rows] == list(expected[:limit])
    assert found.cut_by_limit == (len(expected) > limit)


def test_the_order_of_time_is_known(bench: Workbench, request: pytest.FixtureRequest) -> None:
    design = bench.design("terms")
    assert isinstance(design, Rechecked)
    in_order = "in order" in request.node.name
    assert design.thought.in_order_of_time is in_order
    assert bench.reader.thought_in_order_of_time() is in_order


@pytest.mark.parametrize("design", DESIGNS)
def test_few_rows_are_looked_at_for_the_newest(bench: Workbench, design: str) -> None:
    matches = bench.design(design).matches(
        bench.reader.parse('"red fox"', "fts5"), "thought", ranked=False
    )
    found = select(bench.reader, matches, order="newest", limit=20)
    block = BLOCKS_OF.get(f"reasoning_{design.replace('-', '_')}", 1)
    assert found.rechecked <= FIRST_BATCH * (1 + BATCH_GROWTH) + 2 * block


def test_what_the_index_knows_is_not_looked_at(bench: Workbench) -> None:
    matches = bench.design("terms").matches(
        bench.reader.parse("fox", "fts5"), "thought", ranked=False
    )
    assert select(bench.reader, matches, order="newest", limit=20).rechecked == 0


LACKING, OTHERWISE = (3, 500, 997), (6, 999, 1000)
"""Rows that an index does not have, and rows that it has with another text."""


def behind(reader: Reader) -> list[ThoughtIndex]:
    """Indexes that the archive has left behind, with the list of the rows that have changed."""
    database = reader.database
    stale = f"SELECT value AS rowid FROM json_each('{[*LACKING, *OTHERWISE]}')"
    without = "content='', detail=none, columnsize=0"
    for name in ("left_terms", "left_blocks", "left_rows"):
        database.run(f"DROP TABLE IF EXISTS temp.{name}")
    database.run(f"CREATE VIRTUAL TABLE temp.left_terms USING fts5(thought, {without})")
    database.run(
        f"INSERT INTO temp.left_terms(rowid, thought) SELECT rowid, iif(rowid IN {OTHERWISE}, "
        f"'a wolf', thought) FROM {reader.source} WHERE thought NOT NULL AND rowid NOT IN {LACKING}"
    )
    database.run(f"CREATE VIRTUAL TABLE temp.left_blocks USING fts5(text, {without})")
    database.run("CREATE TEMP TABLE left_rows(document INTEGER PRIMARY KEY, first, last, rows)")
    database.run(
        "INSERT INTO temp.left_rows SELECT rowid / 16, min(rowid), max(rowid), count(*) "
        f"FROM {reader.source} WHERE thought NOT NULL AND rowid NOT IN {LACKING} GROUP BY 1"
    )
    database.run(
        f"INSERT INTO temp.left_blocks(rowid, text) SELECT rowid / 16, group_concat(iif(rowid IN "
        f"{OTHERWISE}, 'a wolf', thought), ' ') FROM {reader.source} "
        f"WHERE thought NOT NULL AND rowid NOT IN {LACKING} GROUP BY 1"
    )
    terms, blocks, rows = (
        IndexTable("temp", name, ()) for name in ("left_terms", "left_blocks", "left_rows")
    )
    in_order = reader.thought_in_order_of_time()
    return [Terms(terms, in_order, stale), Blocks(blocks, rows, in_order, stale)]


@pytest.mark.parametrize("query", ["fox", '"red fox"', "red NOT not", "fox NOT red", "wolf"])
def test_rows_that_an_index_has_missed_are_found_and_others_are_not(
    bench: Workbench, query: str
) -> None:
    reader = bench.reader
    asked = reader.parse(query, "fts5")
    oracle = OracleTables(reader, {"thought": bench.table(THOUGHT_ALL)})
    for index in behind(reader):
        matches = Rechecked(reader, index, None, "left").matches(asked, "thought", ranked=False)
        found = select(reader, matches, order="newest", limit=ROWS)
        assert [row.key for row in found.rows] == list(oracle.newest(asked, "thought"))


def test_the_tokens_of_an_index_without_sizes_are_those_of_one_with_them() -> None:
    connection = apsw.Connection(":memory:")
    database = Database(connection)
    connection.execute(
        "CREATE VIRTUAL TABLE i USING fts5(a, b, content='', detail=none, columnsize=0)"
    )
    table = IndexTable("main", "i", ("a", "b"))
    assert total_tokens(database, table) == 0
    tokens = 0
    for number in (1, 127, 128, 16_384, 3):
        row = (number, "w " * number)
        connection.execute("INSERT INTO i(rowid, a, b) VALUES (?, ?, 'x y')", row)
        tokens += number + 2
        assert total_tokens(database, table) == tokens
