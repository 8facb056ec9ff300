"""One corpus ready to be measured: indexes built, queries chosen, the right answers known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.compare import building
from sqlite_reasoning_fts.compare.agreement import LIMIT, newest_difference, whole_difference
from sqlite_reasoning_fts.compare.oracle import Answers, OracleTables
from sqlite_reasoning_fts.compare.workbench import Workbench
from sqlite_reasoning_fts.compare.workload import WorkloadQuery, choose, vocabulary
from sqlite_reasoning_fts.database import as_text, text_as_blob
from sqlite_reasoning_fts.designs import Design
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.results import Key
from sqlite_reasoning_fts.selection import Selected, ordered

from . import texts
from .corpus import Corpus

MMAP_BYTES = 1 << 34
"""Files are mapped into memory for every side of a comparison alike."""


def fetch_sql(reader: Reader) -> str:
    """Compares each column with what no text equals, so that it has to be read."""
    projection = reader.projection
    condition = " OR ".join(f"{column} = x''" for column in projection.thought_stored)
    return f"SELECT count(*) FROM {projection.source} WHERE {condition}"


class WrongAnswer(AssertionError):
    """What was about to be timed does not answer as it must."""


class Measured:
    """A corpus on a workbench; a context manager that leaves nothing but the archive behind."""

    def __init__(self, corpus: Corpus, path: Path, seed: int, rounds: int) -> None:
        self.corpus = corpus
        self.path = path
        self.rounds = rounds
        self._archive = rf.open(path, **corpus.columns)
        self.bench = self._archive._workbench()
        self._seed = seed

    def __enter__(self) -> Measured:
        try:
            self.bench.__enter__()
            self.counts = self.bench.count()
            self.built = self.bench.build(
                tuple(dict.fromkeys((*building.ORACLE, *building.TABLE_OF.values())))
            )
            self.reader = self.bench.reader
            for schema in ("main", "archive"):
                self.reader.database.run(f"PRAGMA {schema}.mmap_size = {MMAP_BYTES}")
            self.workload = self._workload()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.bench.__exit__(None, None, None)
        self._archive.close()

    def _workload(self) -> list[WorkloadQuery]:
        words = vocabulary(self.reader.database, self.counts.rows_with_reasoning)
        return choose(self.reader, words, self._seed)

    @cached_property
    def answers(self) -> Answers:
        """What real FTS5 tables answer, asked plainly."""
        return self._oracle.answers(self.workload, None)

    @property
    def _oracle(self) -> OracleTables:
        places = {
            "said": building.SAID,
            "thought": building.THOUGHT_ALL,
            "all": building.COLUMN,
        }
        tables = {
            scope: self.built[name].table for scope, name in places.items() if name in self.built
        }
        return OracleTables(self.reader, tables)

    @cached_property
    def texts(self) -> texts.Texts:
        return texts.read(self.reader)

    @cached_property
    def _rowid_of(self) -> dict[Key, int]:
        listed = self.reader.database.rows(
            f"SELECT {text_as_blob('key')}, rowid FROM {self.reader.source}"
        )
        return {as_text(key): rowid for key, rowid in listed}

    def rowids(self, keys: Iterable[Key]) -> list[int]:
        """The rows of some keys, in their order."""
        return [self._rowid_of[key] for key in keys]

    def learn(self, items: Iterable[WorkloadQuery]) -> None:
        """Asks the oracle more queries."""
        new = [item for item in items if (item.text, "thought") not in self.answers.newest]
        learned = self._oracle.answers(new, None)
        self.answers.ranked.update(learned.ranked)
        self.answers.newest.update(learned.newest)

    def queries(self, kind: str) -> list[WorkloadQuery]:
        return [item for item in self.workload if item.kind == kind]

    def design(self, name: str) -> Design:
        return self.bench.design(name)

    def ask(
        self, design: Design, item: WorkloadQuery, scope: str, order: str, limit: int | None = LIMIT
    ) -> list[Selected]:
        """What a search does up to its rows: neither parsing nor snippets."""
        matches = design.matches(item.query, scope, ranked=order == "rank")
        return list(ordered(self.reader, matches, order, limit=limit))

    def check(self, design: Design, item: WorkloadQuery, scope: str, order: str) -> None:
        """Compares an answer with the oracle's: all of its ranks, or its first rows and all."""
        rows = self.ask(design, item, scope, order)
        whole = self.ask(design, item, scope, order, limit=None)
        if order == "rank":
            difference = whole_difference(self.answers, item, scope, whole, ranked=True)
        else:
            difference = newest_difference(self.answers, item, scope, rows)
            difference = difference or newest_difference(self.answers, item, scope, whole)
        if difference is None and [row.key for row in rows] != [row.key for row in whole[:LIMIT]]:
            difference = ("first rows", str(whole[:LIMIT]), str(rows))
        if difference is not None:
            what, expected, found = difference
            raise WrongAnswer(
                f"{design.name} answers {item.text} in {scope}, {order}, wrongly: {what}: "
                f"{expected[:200]} expected, {found[:200]} found"
            )

    def keys(self, item: WorkloadQuery, scope: str, order: str) -> list[Key]:
        """The first rows that the oracle gives."""
        if order == "rank":
            return list(self.answers.ranked[item.text, scope].keys[:LIMIT])
        return list(self.answers.newest[item.text, scope][:LIMIT])

    def another_bench(self) -> Workbench:
        """A workbench over the same archive on which nothing is built yet."""
        return self._archive._workbench()

    def fetch(self) -> Any:
        """The limit of everything that stores nothing: reads the columns that the thought is made
        of, of every row, without any function."""
        return self.reader.database.value(fetch_sql(self.reader))

    def facts(self) -> dict[str, Any]:
        """What a figure needs beside it."""
        database = self.reader.database
        return {
            "corpus": self.corpus.name,
            "rows": self.counts.rows,
            "rows_with_reasoning": self.counts.rows_with_reasoning,
            "reasoning_characters": self.counts.reasoning_characters,
            "sqlite_version": database.sqlite_version,
            "page_size": int(database.pragma("page_size")),
            "mmap_bytes": MMAP_BYTES,
            "simd_level": json.loads(database.value("SELECT reasoning_debug()"))["simd"],
        }
