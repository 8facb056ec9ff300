"""Indexes without positions over the thought: which rows may match a relaxed query.

Both are contentless FTS5 tables with ``detail=none, columnsize=0``. Of ``terms`` each row that has
thought is a document; of ``blocks`` a number of such rows that follow each other, each in a column
of its own, so that no tokenizer reads over the end of a text into the next one. A table beside it
says which rows a document stands for.

Where an archive went on without its index, ``stale`` selects the rowids of the rows that are in it
with another text or not at all. They are candidates of every query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ..database import Database, quote_name
from .base import IndexTable

Element = int | tuple[int, int, int]
"""A candidate: a rowid, or a range of them: the first, the last, how many have thought."""


def rows_of(element: Element) -> int:
    """How many rows there are to look at."""
    return 1 if isinstance(element, int) else element[2]


class ThoughtIndex(Protocol):
    """An index that is asked with a relaxed query."""

    @property
    def rows_are_documents(self) -> bool:
        """Whether a document is one row as it is now: what the index finds of it is right."""
        ...

    @property
    def in_order_of_time(self) -> bool:
        """Whether of two rows with thought the one with the higher rowid is always the newer."""
        ...

    def candidates(self, database: Database, relaxed: str) -> Iterator[Element]:
        """What may match, each row once, highest rowid first, as far as it is asked for."""
        ...

    def total_tokens(self, database: Database) -> int:
        """The tokens in all documents."""
        ...


@dataclass(frozen=True)
class Terms:
    """A row a document, by its rowid."""

    table: IndexTable
    in_order_of_time: bool = False
    stale: str | None = None

    @property
    def rows_are_documents(self) -> bool:
        return self.stale is None

    def candidates(self, database: Database, relaxed: str) -> Iterator[int]:
        found = f"SELECT rowid FROM {self.table.sql} WHERE {quote_name(self.table.name)} MATCH ?"
        if self.stale is not None:
            found += f" AND rowid NOT IN ({self.stale}) UNION SELECT * FROM ({self.stale})"
        for (rowid,) in database.rows(f"{found} ORDER BY rowid DESC", (relaxed,)):
            yield rowid

    def total_tokens(self, database: Database) -> int:
        return total_tokens(database, self.table)


@dataclass(frozen=True)
class Blocks:
    """Several rows a document.

    ``rows`` is a table ``(document, first, last, rows)``: so many rows with thought from the rowid
    ``first`` to ``last``. The ranges of two documents do not overlap. What has come into a range
    since then is stale.
    """

    table: IndexTable
    rows: IndexTable
    in_order_of_time: bool = False
    stale: str | None = None

    @property
    def rows_are_documents(self) -> bool:
        return False

    def candidates(self, database: Database, relaxed: str) -> Iterator[Element]:
        sql = (
            f"SELECT r.first, r.last, r.rows FROM {self.table.sql} AS i "
            f"CROSS JOIN {self.rows.sql} AS r ON r.document = i.rowid "
            f"WHERE i.{quote_name(self.table.name)} MATCH ?"
        )
        ranges = sorted(database.all(sql, (relaxed,)), reverse=True)
        if self.stale is None:
            yield from ranges
            return
        stale = sorted({int(row[0]) for row in database.rows(self.stale)}, reverse=True)
        yield from _with_rows(ranges, stale)

    def total_tokens(self, database: Database) -> int:
        return total_tokens(database, self.table)


def _with_rows(ranges: list[tuple[int, int, int]], rowids: list[int]) -> Iterator[Element]:
    """Ranges, and those of some rows by themselves that are in none; both highest first."""
    at = 0
    for first, last, rows in ranges:
        while at < len(rowids) and rowids[at] > last:
            yield rowids[at], rowids[at], 1
            at += 1
        while at < len(rowids) and rowids[at] >= first:
            at += 1
        yield first, last, rows
    yield from ((rowid, rowid, 1) for rowid in rowids[at:])


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
