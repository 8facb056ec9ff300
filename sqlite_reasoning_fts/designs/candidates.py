"""Indexes without positions over the thought: which rows may match a relaxed query.

Both are contentless FTS5 tables with ``detail=none, columnsize=0``. Of ``terms`` each row that has
thought is a document; of ``blocks`` a number of such rows that follow each other, each in a column
of its own, so that no tokenizer reads over the end of a text into the next one. A table beside it
says which rows a document stands for.

Where an archive went on without its index, ``stale`` selects the rowids of the rows that are in it
with another text or not at all. They are candidates of every query.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..database import Database, quote_name
from .base import IndexTable

FIRST_BATCH = 64
BATCH_GROWTH = 4

Element = Any
"""A rowid, or a range of them as ``[first, last, rows]`` with so many rows to look at."""


@dataclass(frozen=True)
class Candidates:
    """Rows that may match, each once and highest rowid first, as ``reasoning_scan`` takes them.

    ``listed`` is a JSON array of rowids or of ranges, ``rows`` the number of rows to look at.
    """

    listed: str
    rows: int

    def batches(self) -> Iterator[Candidates]:
        """The same in order, few at first and then more and more."""
        elements: list[Element] = json.loads(self.listed)
        start, size = 0, FIRST_BATCH
        while start < len(elements):
            rows, end = 0, start
            while end < len(elements) and rows < size:
                rows += _rows(elements[end])
                end += 1
            yield Candidates(json.dumps(elements[start:end]), rows)
            start, size = end, size * BATCH_GROWTH


class ThoughtIndex(Protocol):
    """An index that is asked with a relaxed query."""

    @property
    def rows_are_documents(self) -> bool:
        """Whether a document is one row as it is now: what the index finds of it is right."""
        ...

    def candidates(self, database: Database, relaxed: str) -> Candidates: ...

    def total_tokens(self, database: Database) -> int:
        """The tokens in all documents."""
        ...


@dataclass(frozen=True)
class Terms:
    """A row a document, by its rowid."""

    table: IndexTable
    stale: str | None = None

    @property
    def rows_are_documents(self) -> bool:
        return self.stale is None

    def candidates(self, database: Database, relaxed: str) -> Candidates:
        name, table = quote_name(self.table.name), self.table.sql
        found = f"SELECT rowid FROM {table} WHERE {name} MATCH ?"
        if self.stale is not None:
            found += f" AND rowid NOT IN ({self.stale}) UNION SELECT rowid FROM ({self.stale})"
        listed, rows = database.all(
            f"SELECT json_group_array(rowid), count(*) FROM ({found} ORDER BY rowid DESC)",
            (relaxed,),
        )[0]
        return Candidates(listed, rows)

    def total_tokens(self, database: Database) -> int:
        return total_tokens(database, self.table)


@dataclass(frozen=True)
class Blocks:
    """Several rows a document.

    ``rows`` is a table ``(document, first, last, rows)``: ``rows`` rows with thought, from the
    rowid ``first`` to ``last``. The ranges of two documents do not overlap. What has come into a
    range since then is stale.
    """

    table: IndexTable
    rows: IndexTable
    stale: str | None = None

    @property
    def rows_are_documents(self) -> bool:
        return False

    def candidates(self, database: Database, relaxed: str) -> Candidates:
        sql = (
            f"SELECT r.first, r.last, r.rows FROM {self.table.sql} AS i "
            f"CROSS JOIN {self.rows.sql} AS r ON r.document = i.rowid "
            f"WHERE i.{quote_name(self.table.name)} MATCH ?"
        )
        ranges = [list(row) for row in database.rows(sql, (relaxed,))]
        ranges.sort(reverse=True)
        if self.stale is not None:
            others = [int(row[0]) for row in database.rows(self.stale)]
            ranges = _with_rows(ranges, sorted(set(others), reverse=True))
        return Candidates(json.dumps(ranges), sum(map(_rows, ranges)))

    def total_tokens(self, database: Database) -> int:
        return total_tokens(database, self.table)


def _rows(element: Element) -> int:
    return 1 if isinstance(element, int) else int(element[2])


def _with_rows(ranges: Sequence[list[int]], rowids: Sequence[int]) -> list[list[int]]:
    """Ranges, with those of some rows for themselves that are in none; both highest first."""
    merged: list[list[int]] = []
    at = 0
    for first, last, rows in ranges:
        while at < len(rowids) and rowids[at] > last:
            merged.append([rowids[at], rowids[at], 1])
            at += 1
        while at < len(rowids) and rowids[at] >= first:
            at += 1
        merged.append([first, last, rows])
    return merged + [[rowid, rowid, 1] for rowid in rowids[at:]]


def total_tokens(database: Database, table: IndexTable) -> int:
    """The tokens in an FTS5 table, by its own record of them, which is there without sizes too.

    The record is a row of varints: the number of documents, then the tokens of each column. FTS5
    writes it as a transaction ends.
    """
    data = f"{quote_name(table.schema)}.{quote_name(table.name + '_data')}"
    record: bytes | None = database.value(f"SELECT block FROM {data} WHERE id = 1")
    return sum(_varints(record or b"")[1:])


def _varints(record: bytes) -> list[int]:
    """SQLite's varints: seven bits a byte, highest first, and all eight of a ninth byte."""
    numbers: list[int] = []
    number = length = 0
    for byte in record:
        length += 1
        if length == 9:
            number = number << 8 | byte
        else:
            number = number << 7 | byte & 0x7F
            if byte & 0x80:
                continue
        numbers.append(number)
        number = length = 0
    return numbers
