"""The scratch file in which designs are built and measured, beside the archive and never in it.

Two connections hold the scratch file as ``main`` and the archive, attached read-only, as
``archive``. The *builder* writes the indexes in one transaction; the *reader* asks them afterwards,
in a transaction that only reads, so that what may be remembered between searches is remembered as
it would be in an agent. Both see the archive as it was at one moment. With a rollback journal a
long read would lock the agent out, so such an archive is backed up in short steps first, and the
copy is measured.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from ..adapters import find_adapter
from ..adapters.generic import Columns
from ..counting import Counts, counted
from ..database import Database, quote_name, translate
from ..designs import Column, Design, Full, IndexTable, Like, Scan
from ..errors import FaultError
from ..holders import marked_as_ours
from ..opening import (
    BUSY_TIMEOUT_MS,
    OpenFile,
    check_room,
    keep_awake,
    scratch_folder,
    size_of,
    uri,
)
from ..progress import Progress
from ..projection import THOUGHT
from ..reader import Reader

if TYPE_CHECKING:
    import apsw

SAID = "reasoning_said"
COLUMN = "reasoning_column"
FULL = "reasoning_full"
THOUGHT_ALL = "reasoning_thought_all"
VOCABULARY = "reasoning_vocabulary"
"""The terms of ``THOUGHT_ALL``."""

ALL = (SAID, COLUMN, FULL, THOUGHT_ALL)
"""What a comparison of all designs builds."""

TABLE_OF = {"full": FULL, "column": COLUMN}
"""The index that each stored design adds."""

BACKUP_PAGES = 256
BACKUP_RESTARTS = 5
BACKUP_PAUSE_SECONDS = 0.002
CACHE_KIB = 200_000
SNAPSHOT_TRIES = 100


@dataclass(frozen=True)
class Built:
    """An index that was built: its table, bytes after ``optimize``, and the time that took."""

    table: IndexTable
    bytes: int
    seconds: float


class Workbench:
    """A scratch file with the archive attached; a context manager that leaves nothing behind."""

    def __init__(
        self,
        file: OpenFile,
        outer: Reader,
        adapter_name: str | None,
        columns: Columns | None,
        progress: Progress | None,
    ) -> None:
        self._file = file
        self._outer = outer
        self._adapter_name = adapter_name
        self._columns = columns
        self._progress = progress
        self._built: dict[str, Built] = {}
        self._connections: list[apsw.Connection] = []

    def __enter__(self) -> Workbench:
        self._folder = scratch_folder()
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _start(self) -> None:
        source = self._file.read_path
        live = self._outer.database.pragma("journal_mode") == "wal"
        if not live:
            source = self._backed_up()
        self._wal_path = source + "-wal"
        self._wal_before = size_of(self._wal_path)
        self._builder = self._connect(source)
        self.reader = self._connect(source)
        both = (self._builder, self.reader)
        for _ in range(SNAPSHOT_TRIES):
            before = self._outer.database.pragma("data_version")
            for reader in both:
                reader.database.run("BEGIN")
                self.rows = reader.row_count()  # the first read: from here on nothing changes
            if not live or self._outer.database.pragma("data_version") == before:
                return
            for reader in both:
                reader.database.run("ROLLBACK")
            time.sleep(BACKUP_PAUSE_SECONDS)
        raise FaultError(
            f"{self._file.path}: no moment was found at which nothing was written",
            "run it again when the agent is less busy",
        )

    @property
    def path(self) -> str:
        """The scratch file."""
        return os.path.join(self._folder, "scratch.db")

    def _connect(self, source: str) -> Reader:
        """A connection to the scratch file with the archive beside it, read-only."""
        import apsw

        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(uri(self.path), flags=flags)
        self._connections.append(connection)
        keep_awake(connection)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        database = Database(connection, schema="archive", path=self._file.path)
        database.run(f"PRAGMA page_size = {int(self._outer.database.pragma('page_size'))}")
        database.run("PRAGMA main.journal_mode = OFF")
        database.run("PRAGMA main.synchronous = OFF")
        database.run(f"PRAGMA main.cache_size = -{CACHE_KIB}")
        with marked_as_ours(source):
            database.run("ATTACH ? AS archive", (uri(source, "ro"),))
            find_adapter(database, self._adapter_name, self._columns)  # opens the file
        return Reader(database, find_adapter(database, self._adapter_name, self._columns))

    def _stop(self) -> None:
        for connection in self._connections:
            connection.close(True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _backed_up(self) -> str:
        """A copy made by SQLite's backup, in steps so short that the agent can write between."""
        import apsw

        check_room(self._folder, size_of(self._file.read_path), "a copy of the archive")
        target = os.path.join(self._folder, "archive.db")
        with (
            closing(apsw.Connection(target)) as copy,
            copy.backup("main", self._file.connection, "main") as backup,
        ):
            restarts, remaining = 0, 0
            while not backup.done:
                # Each commit of the agent begins the backup anew. Of an agent that never pauses,
                # all pages are copied in one step, for which it has to wait.
                pages = BACKUP_PAGES if restarts < BACKUP_RESTARTS else -1
                try:
                    backup.step(pages)
                except (apsw.BusyError, apsw.LockedError):
                    pass  # the agent writes at this moment
                except apsw.Error as error:
                    raise translate(error, self._file.path) or error from error
                restarts += backup.remaining >= remaining > 0
                remaining = backup.remaining
                if self._progress:
                    done = backup.page_count - remaining
                    self._progress(done, backup.page_count, "copying the archive")
                time.sleep(BACKUP_PAUSE_SECONDS)
        return target

    @property
    def wal_growth(self) -> int:
        """By how many bytes the archive's WAL grew, since our transaction keeps it from reset."""
        return max(0, size_of(self._wal_path) - self._wal_before)

    def check_room_for(self, characters: int) -> None:
        """Refuses to start where indexes over so many characters would not fit."""
        check_room(self._folder, int(characters * 1.6), "the scratch file")

    def check_not_replaced(self) -> None:
        """Raises if the archive is another file by now."""
        self._file.check_not_replaced()

    def count(self, progress: Progress | None = None) -> Counts:
        """What the archive holds; through the builder, for the reader must not look at the scratch
        file before it is written, not even at its schema."""
        return counted(self._builder, progress)

    def build(self, names: Sequence[str], progress: Progress | None = None) -> dict[str, Built]:
        """Builds indexes in one transaction, before the reader looks at the scratch file.

        ``SAID`` is the agent's own index as a reindex would build it, and the oracle for what was
        said; ``COLUMN`` the same with a thought column, which asked plainly is the oracle of the
        scope ``all``; ``FULL`` the index of the thought, for the rows that have some; ``THOUGHT``
        an FTS5 table over the thought of all rows, empty ones too, the oracle of that scope.
        """
        said = self.reader.projection.said_names
        columns = {
            SAID: said,
            COLUMN: self.reader.columns,
            FULL: (THOUGHT,),
            THOUGHT_ALL: (THOUGHT,),
        }
        for name in names:
            if columns[name]:
                self._built[name] = self._index(name, columns[name], progress)
        if THOUGHT_ALL in self._built:
            self._builder.database.run(
                f"CREATE VIRTUAL TABLE main.{VOCABULARY} USING fts5vocab({THOUGHT_ALL}, row)"
            )
        self._builder.database.run("COMMIT")
        self._connections.pop(0).close(True)
        return self._built

    def table(self, name: str) -> IndexTable:
        """An index that was built."""
        return self._built[name].table

    @property
    def tables(self) -> dict[str, IndexTable]:
        """The indexes that were built, by name."""
        return {name: built.table for name, built in self._built.items()}

    def design(self, name: str) -> Design:
        """A design over the indexes that were built."""
        return design_over(name, self.reader, self.tables)

    def build_design(self, name: str, progress: Progress | None = None) -> Design:
        """One design with the indexes that it needs."""
        self.build({"full": (SAID, FULL), "column": (COLUMN,)}.get(name, ()), progress)
        return self.design(name)

    @property
    def _inline(self) -> bool:
        index = self.reader.adapter.own_index
        return index.inline if index else False

    def _index(self, name: str, columns: tuple[str, ...], progress: Progress | None) -> Built:
        """Builds an FTS5 table in one go, as a blocking reindex would, and optimizes it."""
        reader = self._builder
        database = reader.database
        # Only what stands for the agent's own table keeps a copy of the text, as that one does.
        inline = self._inline and name in (SAID, COLUMN)
        where = f"{THOUGHT} IS NOT NULL" if name == FULL else "1"
        quoted = [quote_name(column) for column in columns]
        options = [*reader.options, *([] if inline else ["content=''"])]
        listed = ", ".join(quoted)
        ranges = reader.row_ranges(where=where)
        started = time.perf_counter()
        database.run(
            f"CREATE VIRTUAL TABLE main.{name} USING fts5({', '.join([*quoted, *options])})"
        )
        sql = (
            f"INSERT INTO main.{name}(rowid, {listed}) SELECT rowid, {listed} FROM {reader.source} "
            f"WHERE rowid BETWEEN ? AND ? AND {where}"
        )
        for done, (first, last) in enumerate(ranges):
            if progress:
                progress(done, len(ranges) + 1, f"building {name}")
            database.run(sql, (first, last))
        if progress:
            progress(len(ranges), len(ranges) + 1, f"merging {name}")
        database.run(f"INSERT INTO main.{name}({name}) VALUES ('optimize')")
        seconds = time.perf_counter() - started
        if progress:
            progress(len(ranges) + 1, len(ranges) + 1, f"built {name}")
        table = IndexTable("main", name, columns)
        return Built(table, index_bytes(database, "main", name), seconds)


def design_over(name: str, reader: Reader, tables: Mapping[str, IndexTable]) -> Design:
    """A design that asks indexes on the reader's connection, by the names they are built under."""
    if name == "like":
        return Like(reader)
    if name == "scan":
        return Scan(reader)
    if name == "column":
        return Column(reader, tables[COLUMN])
    said = tables.get(SAID) if reader.adapter.own_index else None
    return Full(reader, tables[FULL], said)


def index_bytes(database: Database, schema: str, name: str) -> int:
    """The bytes of the pages of an FTS5 table's shadow tables."""
    total = 0
    for part in ("data", "idx", "content", "docsize", "config"):
        total += int(
            database.value(
                "SELECT total(pgsize) FROM dbstat "
                "WHERE schema = ? AND aggregate = TRUE AND name = ?",
                (schema, f"{name}_{part}"),
            )
        )
    return total
