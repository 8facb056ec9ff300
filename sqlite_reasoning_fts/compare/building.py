"""The indexes that are built in the scratch file, each in one go as a blocking reindex would be."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..database import Database, quote_name
from ..designs import (
    BLOCK_ROWS,
    Blocks,
    Column,
    Design,
    Full,
    IndexTable,
    Like,
    Rechecked,
    Scan,
    Terms,
)
from ..progress import Progress
from ..projection import THOUGHT
from ..reader import Reader

SAID = "reasoning_said"
COLUMN = "reasoning_column"
FULL = "reasoning_full"
THOUGHT_ALL = "reasoning_thought_all"
TERMS = "reasoning_terms"
VOCABULARY = "reasoning_vocabulary"
"""The terms of ``THOUGHT_ALL``."""

ORACLE = (SAID, COLUMN, THOUGHT_ALL)
"""What the oracle asks: a table for each scope."""

BLOCKS_OF = {f"reasoning_{name.replace('-', '_')}": rows for name, rows in BLOCK_ROWS.items()}
"""The rows of a document, by the name of the index."""

TABLE_OF = {
    **dict(zip(BLOCK_ROWS, BLOCKS_OF, strict=True)),
    "terms": TERMS,
    "full": FULL,
    "column": COLUMN,
}
"""The index that each stored design adds."""

WITHOUT_POSITIONS = ("content=''", "detail=none", "columnsize=0")


@dataclass(frozen=True)
class Built:
    """An index that was built: its table, bytes after ``optimize``, and the time that took.

    ``rows`` is the table that says which rows the documents of ``blocks`` stand for.
    """

    table: IndexTable
    bytes: int
    seconds: float
    rows: IndexTable | None = None
    in_order_of_time: bool = False


def tables_of(design: str) -> tuple[str, ...]:
    """The indexes that a design needs to answer in every scope."""
    if design not in TABLE_OF:
        return ()
    return (COLUMN,) if design == "column" else (SAID, TABLE_OF[design])


def build(reader: Reader, name: str, progress: Progress | None) -> Built | None:
    """Builds one index; ``None`` where it would have no columns.

    ``SAID`` is the agent's own index as a reindex would build it, and the oracle for what was
    said; ``COLUMN`` the same with a thought column, which asked plainly is the oracle of the
    scope ``all``; ``THOUGHT_ALL`` an FTS5 table over the thought of all rows, empty ones too, the
    oracle of that scope. The others are indexes of the thought, for the rows that have some.
    """
    started = time.perf_counter()
    if name in BLOCKS_OF:
        built = _Build(reader, name, _places(BLOCKS_OF[name]), WITHOUT_POSITIONS, progress)
        table, rows = built.blocks()
    else:
        columns = {SAID: reader.projection.said_names, COLUMN: reader.columns}.get(name, (THOUGHT,))
        if not columns:
            return None
        index = reader.adapter.own_index
        # Only what stands for the agent's own table keeps a copy of the text, as that one does.
        inline = index is not None and index.inline and name in (SAID, COLUMN)
        options = WITHOUT_POSITIONS if name == TERMS else () if inline else ("content=''",)
        built = _Build(reader, name, columns, options, progress)
        table, rows = built.documents(where=_HAS_THOUGHT if name in (FULL, TERMS) else "1"), None
    ordered = name == TERMS or name in BLOCKS_OF
    in_order = ordered and reader.thought_in_order_of_time()
    seconds = time.perf_counter() - started
    size = index_bytes(reader.database, table)
    if rows is not None:
        size += table_bytes(reader.database, rows.schema, rows.name)
    return Built(table, size, seconds, rows, in_order)


def design_over(name: str, reader: Reader, built: Mapping[str, Built]) -> Design:
    """A design that asks indexes on the reader's connection, by the names they are built under."""
    if name == "like":
        return Like(reader)
    if name == "scan":
        return Scan(reader)
    index = built[TABLE_OF[name]]
    if name == "column":
        return Column(reader, index.table)
    own = built.get(SAID) if reader.adapter.own_index else None
    said = own.table if own else None
    if name == "full":
        return Full(reader, index.table, said)
    if name == "terms":
        return Rechecked(reader, Terms(index.table, index.in_order_of_time), said, name)
    assert index.rows is not None, "blocks are built with the table of their rows"
    return Rechecked(reader, Blocks(index.table, index.rows, index.in_order_of_time), said, name)


_HAS_THOUGHT = f"{THOUGHT} IS NOT NULL"


def _places(rows: int) -> tuple[str, ...]:
    return tuple(f"row{place}" for place in range(rows))


class _Build:
    """One FTS5 table, made and filled a range of rows at a time, then merged."""

    def __init__(
        self,
        reader: Reader,
        name: str,
        columns: tuple[str, ...],
        options: Sequence[str],
        progress: Progress | None,
    ) -> None:
        self._reader = reader
        self._database = reader.database
        self._progress = progress
        self._table = IndexTable("main", name, columns)
        arguments = [*map(quote_name, columns), *reader.options, *options]
        self._database.run(f"CREATE VIRTUAL TABLE main.{name} USING fts5({', '.join(arguments)})")

    def documents(self, where: str) -> IndexTable:
        """A row a document, by its rowid."""
        listed = ", ".join(map(quote_name, self._table.columns))
        sql = (
            f"INSERT INTO {self._table.sql}(rowid, {listed}) SELECT rowid, {listed} "
            f"FROM {self._reader.source} WHERE rowid BETWEEN ? AND ? AND {where}"
        )
        for rows in self._ranges(where, 4096):
            self._database.run(sql, rows)
        return self._merged()

    def blocks(self) -> tuple[IndexTable, IndexTable]:
        """So many rows with thought a document, each in a column of its own."""
        names = self._table.columns
        rows = IndexTable("main", f"{self._table.name}_rows", ("document", "first", "last", "rows"))
        self._database.run(
            f"CREATE TABLE {rows.sql}(document INTEGER PRIMARY KEY, first INTEGER, last INTEGER, "
            "rows INTEGER)"
        )
        # A blob is read as the text that its bytes are, be they UTF-8 or not.
        read = (
            f"SELECT rowid, CAST({THOUGHT} AS BLOB) FROM {self._reader.source} "
            f"WHERE rowid BETWEEN ? AND ? AND {_HAS_THOUGHT} ORDER BY rowid"
        )
        note = f"INSERT INTO {rows.sql} VALUES (?, ?, ?, ?)"
        write = f"INSERT INTO {self._table.sql}(rowid, {{}}) VALUES (?{{}})"
        for document, where in enumerate(self._ranges(_HAS_THOUGHT, len(names)), 1):
            found = self._database.all(read, where)
            listed, marks = ", ".join(names[: len(found)]), ", ?" * len(found)
            self._database.run(
                write.format(listed, marks), (document, *(text for _, text in found))
            )
            self._database.run(note, (document, found[0][0], found[-1][0], len(found)))
        return self._merged(), rows

    def _ranges(self, where: str, chunk: int) -> Iterator[tuple[int, int]]:
        ranges = self._reader.row_ranges(chunk, where)
        for done, rows in enumerate(ranges):
            self._report(done, len(ranges) + 1, "building")
            yield rows
        self._report(len(ranges), len(ranges) + 1, "merging")

    def _merged(self) -> IndexTable:
        name = self._table.name
        self._database.run(f"INSERT INTO main.{name}({name}) VALUES ('optimize')")
        self._report(1, 1, "built")
        return self._table

    def _report(self, done: int, total: int, what: str) -> None:
        if self._progress:
            self._progress(done, total, f"{what} {self._table.name}")


def index_bytes(database: Database, table: IndexTable) -> int:
    """The bytes of the pages of an FTS5 table's shadow tables."""
    parts = ("data", "idx", "content", "docsize", "config")
    return sum(table_bytes(database, table.schema, f"{table.name}_{part}") for part in parts)


def table_bytes(database: Database, schema: str, name: str) -> int:
    """The bytes of the pages of one table, 0 where there is none."""
    return int(
        database.value(
            "SELECT total(pgsize) FROM dbstat WHERE schema = ? AND aggregate = TRUE AND name = ?",
            (schema, name),
        )
    )
