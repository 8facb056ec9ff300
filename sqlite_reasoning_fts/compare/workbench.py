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
from collections.abc import Sequence
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING

from ..adapters import find_adapter
from ..adapters.generic import Columns
from ..counting import Counts, counted
from ..database import Database, translate
from ..designs import Design, IndexTable
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
from ..reader import Reader
from .building import THOUGHT_ALL, VOCABULARY, Built, build, design_over, tables_of

if TYPE_CHECKING:
    import apsw

BACKUP_PAGES = 256
BACKUP_RESTARTS = 5
BACKUP_PAUSE_SECONDS = 0.002
CACHE_KIB = 200_000
SNAPSHOT_TRIES = 100


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
        """Builds indexes in one transaction, before the reader looks at the scratch file."""
        for name in names:
            built = build(self._builder, name, progress)
            if built is not None:
                self._built[name] = built
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

    def design(self, name: str) -> Design:
        """A design over the indexes that were built."""
        return design_over(name, self.reader, self._built)

    def build_design(self, name: str, progress: Progress | None = None) -> Design:
        """One design with the indexes that it needs."""
        self.build(tables_of(name), progress)
        return self.design(name)
