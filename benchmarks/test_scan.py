"""The bars of the scan: what reading the rows with FTS5's semantics costs beyond reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.compare.workload import WorkloadQuery
from sqlite_reasoning_fts.designs import Scan
from sqlite_reasoning_fts.designs.like import Like
from sqlite_reasoning_fts.reader import Reader

from .bars import Bar, hold
from .corpus import REFERENCE_NAME
from .measured import MMAP_BYTES, Measured, WrongAnswer
from .phrases import phrase_set

pytestmark = pytest.mark.corpora(REFERENCE_NAME)


def asked(
    measured: Measured, items: Sequence[WorkloadQuery], order: str = "newest"
) -> Callable[[], None]:
    """Checks the answers of a scan, and gives what asks the queries again."""
    scan = Scan(measured.reader)
    for item in items:
        measured.check(scan, item, "thought", order)

    def ask() -> None:
        for item in items:
            measured.ask(scan, item, "thought", order)

    return ask


def times(count: int, run: Callable[[], object]) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(count):
            run()

    return repeated


def test_rare_term(described: Any, measured: Measured) -> None:
    items = measured.queries("rare")
    bar = Bar("scan, a rare term, newest 20 / fetch", 1.2)
    hold(described, bar, asked(measured, items), times(len(items), measured.fetch))


def test_phrase_set(described: Any, measured: Measured) -> None:
    items = phrase_set(measured)
    bar = Bar("scan, the phrase set, newest 20 / fetch", 1.4)
    hold(described, bar, asked(measured, items), times(len(items), measured.fetch), rounds=5)


def test_proposed_flag(described: Any, measured: Measured) -> None:
    """The proposed condition over content and reasoning against a scan of the same columns' rows:
    both answer where the flag was asked for a word of the reasoning."""
    items = measured.queries("rare")[:3]
    like = Like(measured.reader)

    def flag() -> None:
        for item in items:
            measured.ask(like, item, "all", "newest")

    bar = Bar("the proposed LIKE flag / scan, a rare term", 5, at_least=True)
    hold(described, bar, asked(measured, items), flag, rounds=5)


THINKING = "temp.bench_listed"
"""A list of the rows that have thought, as a partial index would give it."""


@pytest.fixture
def listing(measured: Measured) -> Iterator[Reader]:
    """A reader of its own that has the list: while a transaction has written, if only to the
    temporary schema, the library remembers no statistics, and other cases count on them."""
    with measured.another_bench() as bench:
        database = bench.reader.database
        database.run(f"PRAGMA archive.mmap_size = {MMAP_BYTES}")
        database.run(
            "CREATE TEMP TABLE bench_thinking AS SELECT rowid AS id "
            f"FROM {bench.reader.source} WHERE thought IS NOT NULL"
        )
        database.run("CREATE UNIQUE INDEX temp.bench_thinking_id ON bench_thinking(id)")
        database.run("CREATE TEMP VIEW bench_listed AS SELECT id AS rowid FROM bench_thinking")
        yield bench.reader


def test_list_of_rows(described: Any, measured: Measured, listing: Reader) -> None:
    items = measured.queries("rare")

    def ask(listed: str | None) -> list[set[int]]:
        reader = listing
        found = []
        for item in items:
            rows = reader.database.rows(
                "SELECT rowid FROM reasoning_scan(?, ?, ?, ?, ?, ?)",
                (
                    item.query.fts5, reader.source, reader.spec("thought"),
                    reader.thought_number, reader.stored("thought"), listed,
                ),
            )  # fmt: skip
            found.append({row[0] for row in rows})
        return found

    if ask(THINKING) != ask(None):
        raise WrongAnswer("a scan over a list of the rows with thought finds other rows")
    bar = Bar("scan / scan over a list of the rows that have thought", 1.3, at_least=True)
    hold(described, bar, lambda: ask(THINKING), lambda: ask(None))


@pytest.mark.parametrize("kind", ["rare", "common"])
def test_ranked(described: Any, measured: Measured, kind: str) -> None:
    items = measured.queries(kind)
    bar = Bar(f"scan ranked, statistics warm / newest first, a {kind} term", 1.5)
    newest = asked(measured, items)
    hold(described, bar, asked(measured, items, "rank"), newest)


def test_two_connections(described: Any, measured: Measured) -> None:
    """A whole search, not mapped into memory, on one connection and on two."""
    items = measured.queries("rare")[:3]
    with rf.open(measured.path, **measured.corpus.columns) as archive:

        def search(workers: int) -> list[list[Any]]:
            return [
                [
                    (hit.key, hit.snippet)
                    for hit in archive.search(
                        item.query.fts5, scope="thought", syntax="fts5", order="newest",
                        design="scan", workers=workers,
                    ).hits
                ]
                for item in items
            ]  # fmt: skip

        if search(1) != search(2):
            raise WrongAnswer("two connections answer otherwise than one")
        bar = Bar("scan on one connection / on two", 1.4, at_least=True)
        hold(described, bar, lambda: search(2), lambda: search(1))
