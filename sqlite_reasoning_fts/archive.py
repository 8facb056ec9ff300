"""An agent's archive, open for reading: the Python face of the package."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .adapters import find_adapter
from .adapters.generic import Columns
from .database import Database
from .designs import EVERY_NAME, STORED, Design, Full, IndexTable, Like, Scan, SharedScan
from .errors import UsageError
from .opening import OpenFile, open_beside, open_file, size_of
from .progress import Progress
from .query import check_choice
from .reader import Reader, RowCounts
from .results import ArchiveInfo, AuditReport, Comparison, Key, SearchResult
from .search import Request, search
from .selection import Filters
from .snippets import BRACKETS, Marks
from .team import Team
from .workers import Workers, check_workers

if TYPE_CHECKING:
    from .compare.workbench import Workbench


def open(
    archive: str | os.PathLike[str] | Any,
    *,
    adapter: str | None = None,
    table: str | None = None,
    key: str | None = None,
    said: Sequence[str] = (),
    thought: Sequence[str] = (),
    session: str | None = None,
    role: str | None = None,
    time: str | None = None,
) -> Archive:
    """Opens an archive for reading and recognises its agent.

    ``archive`` is a path, or the host's own ``apsw.Connection`` or ``sqlite3.Connection``, which
    is used as it is and left open. The names describe any other table: ``table`` holds messages,
    ``key`` identifies a row, ``said`` and ``thought`` are the columns with text, ``session``,
    ``role`` and ``time`` are optional. Raises FileError or UsageError, each with what to do.
    """
    columns = None
    if table is not None:
        columns = Columns(table, key, tuple(said), tuple(thought), session, role, time)
    elif any((key, said, thought, session, role, time)):
        raise UsageError("columns are named without their table", "name it with --table (table=)")
    if isinstance(archive, str | os.PathLike):
        file = open_file(archive)
        try:
            return _prepared(Database(file.connection, path=file.path), file, adapter, columns)
        except BaseException:
            file.close()
            raise
    if not hasattr(archive, "execute"):
        raise UsageError(
            f"open: {type(archive).__name__} is neither a path nor a connection",
            "give a path, an apsw.Connection or a sqlite3.Connection",
        )
    return _prepared(Database(archive), None, adapter, columns)


def _prepared(
    database: Database, file: OpenFile | None, adapter: str | None, columns: Columns | None
) -> Archive:
    if not database.path:
        database.path = str(
            database.value("SELECT file FROM pragma_database_list WHERE name = 'main'") or ""
        )
    return Archive(
        Reader(database, find_adapter(database, adapter, columns)), file, adapter, columns
    )


class Archive:
    """An open archive. Use ``open()`` to make one, and ``with`` or ``close()`` to end it."""

    def __init__(
        self,
        reader: Reader,
        file: OpenFile | None,
        adapter_name: str | None,
        columns: Columns | None,
    ) -> None:
        self._reader = reader
        self._file = file
        self._adapter_name = adapter_name
        self._columns = columns
        self._counts: dict[str, tuple[object, RowCounts]] = {}
        self._workers = Workers(reader, self._another_connection)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the reading; a host's connection stays open, without our temporary objects."""
        self._workers.close()
        if self._file is not None:
            self._file.close()
        else:
            self._reader.close()

    @property
    def info(self) -> ArchiveInfo:
        """Which file this is, which agent wrote it, and how large it is."""
        database = self._reader.database
        path = self._file.path if self._file else database.path
        return ArchiveInfo(
            path=path,
            agent=self._reader.adapter.agent,
            schema_version=self._reader.adapter.schema_version,
            bytes=size_of(path)
            or int(database.pragma("page_count")) * int(database.pragma("page_size")),
            journal_mode=str(database.pragma("journal_mode")),
            sqlite_version=database.sqlite_version,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the file lacks, and what that means for the answers."""
        if self._file is not None and self._file.is_private_copy:
            copied = "read through a private copy, since the folder of the file cannot be written"
            return (*self._reader.adapter.notes, copied)
        return self._reader.adapter.notes

    def search(
        self,
        query: str,
        *,
        scope: str = "said",
        syntax: str = "text",
        match: str = "words",
        order: str = "rank",
        limit: int = 20,
        roles: Iterable[str] | None = None,
        session: Key | None = None,
        since: float | None = None,
        until: float | None = None,
        design: str | None = None,
        placement: str | None = None,
        fold_sessions: bool = False,
        workers: int = 1,
        marks: Marks = BRACKETS,
        progress: Progress | None = None,
    ) -> SearchResult:
        """The rows that match, best first (``order="rank"``) or newest first (``"newest"``).

        ``scope`` says whether what was said, what was thought or both is searched. ``since`` and
        ``until`` are Unix seconds. Without a ``design``, what needs nothing stored answers; one
        that needs an index is built in a scratch file for this one search. With ``workers``, so
        many connections scan the rows in parallel, all at one moment; where they cannot, one does,
        and the coverage's route says why. Answers from an index take one connection.
        """
        request = Request(
            query=query,
            scope=scope,
            syntax=syntax,
            match=match,
            order=order,
            limit=limit,
            filters=Filters.of(roles, session, since, until),
            fold_sessions=fold_sessions,
            marks=marks,
        )
        request.check()
        if design is not None:
            check_choice("design", design, EVERY_NAME)
        if placement is not None:
            raise UsageError(
                f"no index with placement {placement!r} is stored for this archive",
                "leave the placement out",
            )
        check_workers(workers)
        if design in STORED:
            self._reader.refresh()
            with self._workbench(progress) as bench:
                chosen = bench.build_design(design, progress)
                return search(bench.reader, chosen, request, bench.reader.counts(scope), None)
        chosen = self._unstored(design, scope)
        scans = isinstance(chosen, Scan)
        with self._workers.together(workers if scans else 1) as team:
            if scans and workers > 1:
                chosen = SharedScan(team)
            return search(self._reader, chosen, request, self._row_counts(scope, team), None)

    def audit(
        self,
        token: str | None = None,
        *,
        queries: Sequence[str] | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> AuditReport:
        """Measures what the agent's own search cannot reach, and shows it on its own routes."""
        from .audit import audit

        self._reader.refresh()
        # With a rollback journal a long read would lock the agent out: there the counts are those
        # of several moments.
        live = self._reader.database.pragma("journal_mode") == "wal"
        with self._reader.database.snapshot() if live else nullcontext():
            return audit(self._reader, self.info, token, queries, seed, progress)

    def compare(
        self,
        *,
        designs: Sequence[str] | None = None,
        queries: Sequence[str] | None = None,
        seed: int = 0,
        repeat: int = 5,
        progress: Progress | None = None,
    ) -> Comparison:
        """Builds the designs in a scratch file and measures what each costs and gives here."""
        from .compare import compare

        self._reader.refresh()
        with self._workbench(progress) as bench:
            return compare(bench, self.info, designs, queries, seed, repeat, progress)

    def _workbench(self, progress: Progress | None = None) -> Workbench:
        from .compare.workbench import Workbench

        if self._file is None:
            raise UsageError(
                "this needs a connection of its own, and the archive was opened on the host's",
                "open the path in a process of its own, for instance with the command "
                "reasoning-fts compare FILE",
            )
        return Workbench(self._file, self._reader, self._adapter_name, self._columns, progress)

    def _unstored(self, name: str | None, scope: str) -> Design:
        if name == "like":
            return Like(self._reader)
        index = self._reader.adapter.own_index
        if name is None and scope == "said" and index is not None:
            # The agent's own index holds what was said; a scan would give the same rows, slower.
            database = self._reader.database
            said = self._reader.projection.said_names
            own = IndexTable(database.schema, index.table, said)
            return Full(self._reader, thought=own, said=own, name="scan")
        return Scan(self._reader)

    def _another_connection(self) -> OpenFile:
        if self._file is not None:
            return self._file.another()
        host: Any = self._reader.database.connection
        return open_beside(host)

    def _row_counts(self, scope: str, team: Team) -> RowCounts:
        """Counted anew when another connection or this one has changed the file."""
        state = self._reader.state()
        known = self._counts.get(scope)
        if known is None or known[0] != state:
            known = (state, team.counts(scope))
            self._counts[scope] = known
        return known[1]
