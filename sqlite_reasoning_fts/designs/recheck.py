"""Candidates of an index without positions, compared with the query on their text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..database import quote_name
from ..projection import THOUGHT
from ..query import Node, Query, leaf_query, parse, phrase_query
from ..reader import Reader
from .base import Matches
from .candidates import Element, ThoughtIndex, rows_of
from .combine import Counted, unpacked
from .relax import Relaxed, relax

COLUMNS = (THOUGHT,)
FIRST_BATCH = 64
BATCH_GROWTH = 4
"""Of the newest rows a few are looked at first, and more and more while too few of them match."""


@dataclass(frozen=True)
class Recheck:
    """The thought of one archive: an index for candidates, and the rows themselves.

    Queries are FTS5's, over the column with the thought.
    """

    reader: Reader
    index: ThoughtIndex

    @property
    def spec(self) -> str:
        """The arguments of an FTS5 table over the thought alone."""
        return ", ".join([quote_name(THOUGHT), *self.reader.options])

    def understood(self, text: str) -> Query:
        """A query over the thought alone, with its phrases counted anew."""
        return parse(self.reader.database, text, "fts5", self.spec, COLUMNS)

    def relaxed(self, query: Query, node: Node | None = None) -> Relaxed | None:
        """What the index is asked for; ``None`` where no thought can match."""
        return relax(
            self.reader.database, self.spec, query, COLUMNS,
            rows_are_documents=self.index.rows_are_documents, node=node,
        )  # fmt: skip

    def candidates(self, relaxed: Relaxed) -> Iterator[Element]:
        """Highest rowid first."""
        if relaxed.text is None:
            yield -(2**63), 2**63 - 1, self.reader.row_count()
        else:
            yield from self.index.candidates(self.reader.database, relaxed.text)

    def rows(self, text: str, relaxed: Relaxed) -> list[int]:
        """All rows that match a query."""
        if relaxed.exact:
            return [row for row in self.candidates(relaxed) if isinstance(row, int)]
        listed = list(self.candidates(relaxed))
        if not listed:
            return []
        matches = self.matching(text, listed)
        sql = f"SELECT rowid FROM ({matches.sql})"
        return [rowid for (rowid,) in self.reader.database.all(sql, matches.parameters)]

    def matching(self, text: str, listed: Sequence[Element], route: str = "") -> Matches:
        """Those of some candidates that match."""
        reader = self.reader
        return Matches(
            "SELECT rowid, NULL AS rank, origin FROM reasoning_scan(?, ?, ?, ?, ?, ?)",
            (
                text,
                reader.source,
                reader.spec("thought"),
                reader.thought_number,
                reader.stored("thought"),
                json.dumps(listed),
            ),
            route,
            sum(map(rows_of, listed)),
        )

    def newest(self, text: str, relaxed: Relaxed, route: str) -> Iterator[Matches]:
        """Parts of the matching rows, the newest part first."""
        candidates = self.candidates(relaxed)
        if relaxed.exact and not self.index.in_order_of_time:
            yield _found(list(candidates), route)
            return
        if not self.index.in_order_of_time:
            candidates = self._by_time(list(candidates))
        size = FIRST_BATCH
        while batch := list(_so_many(candidates, size)):
            yield _found(batch, route) if relaxed.exact else self.matching(text, batch, route)
            size *= BATCH_GROWTH

    def _by_time(self, listed: list[Element]) -> Iterator[Element]:
        """The rows of some candidates, newest first."""
        if not listed:
            return
        ranges = [(one, one) if isinstance(one, int) else one[:2] for one in listed]
        sql = (
            f"SELECT p.rowid FROM json_each(?) AS c CROSS JOIN {self.reader.source} AS p "
            "ON p.rowid BETWEEN c.value ->> 0 AND c.value ->> 1 "
            f"WHERE p.{THOUGHT} IS NOT NULL "
            "ORDER BY p.created_at DESC NULLS LAST, p.key COLLATE BINARY DESC"
        )
        for (rowid,) in self.reader.database.rows(sql, (json.dumps(ranges),)):
            yield rowid

    def counts(self, text: str, rows: Sequence[int]) -> Iterator[Counted]:
        """Lengths and hits of some rows that match a query."""
        if not rows:
            return
        sql = (
            f"SELECT p.rowid, reasoning_counts_columns(?, ?, p.{THOUGHT}) FROM json_each(?) AS c "
            f"CROSS JOIN {self.reader.source} AS p ON p.rowid = c.value"
        )
        parameters = (self.spec, text, json.dumps(rows))
        yield from unpacked(self.reader.database.all(sql, parameters))

    def frequency(self, query: Query, leaf: Node, phrase: Node) -> int:
        """In how many rows a phrase stands."""
        return sum(1 for _ in self.rows_of_phrase(query, leaf, phrase))

    def rows_of_phrase(self, query: Query, leaf: Node, phrase: Node) -> list[int]:
        """The rows with one phrase of a leaf, wherever its neighbours are."""
        text = phrase_query(leaf, phrase, query.columns, COLUMNS)
        relaxed = self.relaxed(query, {**leaf, "phrases": [phrase]})
        if text is None or relaxed is None:
            return []
        return self.rows(text, relaxed)


def _found(rows: Sequence[Element], route: str) -> Matches:
    """Rows that match for certain."""
    sql = "SELECT value AS rowid, NULL AS rank, 'thought' AS origin FROM json_each(?)"
    return Matches(sql, (json.dumps(rows),), route)


def _so_many(candidates: Iterator[Element], size: int) -> Iterator[Element]:
    """The next candidates, until they are so many rows."""
    rows = 0
    while rows < size and (element := next(candidates, None)) is not None:
        rows += rows_of(element)
        yield element


@dataclass(frozen=True)
class RecheckSide:
    """The side of the thought in a combination (``combine.py``), without positions."""

    recheck: Recheck
    route: str
    columns: tuple[str, ...] = COLUMNS
    origin: int = 2

    def counted(self, query: Query, leaf: Node, *, ranked: bool) -> Iterable[Counted]:
        text = leaf_query(leaf, query.columns, COLUMNS)
        relaxed = self.recheck.relaxed(query, leaf)
        if text is None or relaxed is None:
            return ()
        rows = self.recheck.rows(text, relaxed)
        if ranked:
            return self.recheck.counts(text, rows)
        return ((row, 0, ()) for row in rows)

    def rows(self, query: Query, leaf: Node, phrase: Node) -> Iterable[int]:
        return self.recheck.rows_of_phrase(query, leaf, phrase)

    def lengths(self, rows: Sequence[int]) -> Iterable[tuple[int, int]]:
        # Of a query that asks for nothing the library counts the tokens alone.
        return ((rowid, tokens) for rowid, tokens, _ in self.recheck.counts('""', rows))

    def total_tokens(self) -> int:
        return self.recheck.index.total_tokens(self.recheck.reader.database)
