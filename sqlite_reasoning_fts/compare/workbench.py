"""The scratch file in which designs are built and measured, beside the archive and never in it.

One connection holds the scratch file as ``main`` and the archive, attached read-only, as
``archive``; all of the work is one transaction, so that every design sees the same rows. With a
rollback journal that would lock the agent out, so such an archive is backed up in short steps
first, and the copy is measured.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType

from ..adapters import find_adapter
from ..adapters.generic import Columns
from ..database import Database, quote_name, translate
from ..designs import Column, Design, Full, IndexTable, Like, Scan
from ..opening import OpenFile, check_room, size_of, uri
from ..projection import THOUGHT, VIEW
from ..reader import Reader

Progress = Callable[[int, int, str], None]

SAID_INDEX = "reasoning_said"
COLUMN_INDEX = "reasoning_column"
FULL_INDEX = "reasoning_full"
THOUGHT_ORACLE = "reasoning_thought_oracle"

BACKUP_PAGES = 256
BACKUP_PAUSE_SECONDS = 0.002
CACHE_KIB = 200_000
MMAP_BYTES = 1 << 36
INTERRUPT_STEPS = 20_000
"""SQLite instructions between two looks at a pending Ctrl-C."""


@dataclass(frozen=True)
class Built:
    """An index that was built: its table, bytes after ``optimize``, and the time that took."""

    table: IndexTable
    bytes: int
    seconds: float


class Workbench:
    """A scratch file with the archive attached; a context manager that leaves nothing behind."""

    def __init__(
        self, file: OpenFile, outer: Reader, adapter_name: str | None, columns: Columns | None
    ) -> None:
        self._file = file
        self._outer = outer
        self._adapter_name = adapter_name
        self._columns = columns
        self._built: dict[str, Built] = {}
        self._wal_before = 0

    def __enter__(self) -> Workbench:
        self._folder = tempfile.mkdtemp(prefix="reasoning-fts-")
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
        import apsw

        source = self._file.read_path
        if self._outer.database.pragma("journal_mode") != "wal":
            source = self._backed_up()
        self._wal_path = source + "-wal"
        self._wal_before = size_of(self._wal_path)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        scratch = os.path.join(self._folder, "scratch.db")
        self._connection = apsw.Connection(uri(scratch), flags=flags)
        # A long statement is C alone; this is where Python sees a signal that came meanwhile.
        self._connection.set_progress_handler(_go_on, INTERRUPT_STEPS)
        database = Database(self._connection, schema="archive", path=self._file.path)
        database.run(f"PRAGMA page_size = {int(self._outer.database.pragma('page_size'))}")
        database.run("PRAGMA main.journal_mode = OFF")
        database.run("PRAGMA main.synchronous = OFF")
        database.run(f"PRAGMA main.cache_size = -{CACHE_KIB}")
        database.run("ATTACH ? AS archive", (uri(source, "ro"),))
        # Alike for all designs. Our transaction keeps the file from being cut under the map.
        database.run(f"PRAGMA archive.mmap_size = {MMAP_BYTES}")
        database.run(f"PRAGMA main.mmap_size = {MMAP_BYTES}")
        adapter = find_adapter(database, self._adapter_name, self._columns)
        self.reader = Reader(database, adapter)
        database.run("BEGIN")
        self.rows = self.reader.row_count()  # the first read: from here on nothing changes

    def _stop(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
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
            while not backup.done:
                try:
                    backup.step(BACKUP_PAGES)
                except (apsw.BusyError, apsw.LockedError):
                    pass  # the agent writes at this moment
                except apsw.Error as error:
                    raise translate(error, self._file.path) or error from error
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

    # -- what is built ------------------------------------------------------

    def said_index(self, progress: Progress | None = None) -> Built | None:
        """The agent's own index as a reindex would build it, and the oracle for what was said."""
        said = self.reader.projection.said_names
        if not said:
            return None
        return self._index(SAID_INDEX, said, progress, inline=self._inline)

    def column_index(self, progress: Progress | None = None) -> Built:
        """The agent's own index with a thought column; over all columns, so it is the oracle of
        the scope ``all`` when it is asked plainly."""
        return self._index(COLUMN_INDEX, self.reader.columns, progress, inline=self._inline)

    def full_index(self, progress: Progress | None = None) -> Built:
        """The index of the thought: rows that have some, without a copy of the text."""
        return self._index(
            FULL_INDEX, (THOUGHT,), progress, inline=False, where=f"{THOUGHT} IS NOT NULL"
        )

    def thought_oracle(self, progress: Progress | None = None) -> Built:
        """A real FTS5 table over the thought of all rows, empty ones too."""
        return self._index(THOUGHT_ORACLE, (THOUGHT,), progress, inline=False)

    def design(self, name: str, progress: Progress | None = None) -> Design:
        """A design, its index built if it has one."""
        if name == "like":
            return Like(self.reader)
        if name == "scan":
            return Scan(self.reader)
        if name == "column":
            return Column(self.reader, self.column_index(progress).table)
        own = self.said_index(progress) if self.reader.adapter.own_index else None
        return Full(self.reader, self.full_index(progress).table, own.table if own else None)

    build = design

    @property
    def _inline(self) -> bool:
        index = self.reader.adapter.own_index
        return index.inline if index else False

    def _index(
        self,
        name: str,
        columns: tuple[str, ...],
        progress: Progress | None,
        *,
        inline: bool,
        where: str = "1",
    ) -> Built:
        """Builds an FTS5 table in one go, as a blocking reindex would, and optimizes it."""
        if name in self._built:
            return self._built[name]
        database = self.reader.database
        quoted = [quote_name(column) for column in columns]
        options = [*self.reader.options, *([] if inline else ["content=''"])]
        listed = ", ".join(quoted)
        ranges = self.reader.row_ranges(where=where)
        started = time.perf_counter()
        database.run(
            f"CREATE VIRTUAL TABLE main.{name} USING fts5({', '.join([*quoted, *options])})"
        )
        sql = (
            f"INSERT INTO main.{name}(rowid, {listed}) SELECT rowid, {listed} FROM temp.{VIEW} "
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
        built = Built(
            IndexTable("main", name, columns), index_bytes(database, "main", name), seconds
        )
        self._built[name] = built
        return built


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


def _go_on() -> bool:
    return False
