"""The further connections of an archive, and how they come to see one moment of it.

They are opened as the archive's file was, by the same SQLite library, when a search first asks for
them, and are kept for later ones.

*One moment.* A commit between the beginnings of two read transactions would let their connections
see different rows. So each further connection looks, outside any transaction, at its data version,
which changes with each commit by anybody else; then the main connection begins to read; then each
of the others begins and looks again. Where no version has changed, nothing was committed from
before the first beginning until after the last one, and all see the same. A checkpoint may change a
version as well, which costs a try and does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from .database import Database, quote_name
from .errors import FaultError, FileError, ReasoningFtsError, UsageError
from .opening import BUSY_TIMEOUT_MS, OpenFile
from .ranges import Range, split
from .reader import Reader
from .team import Team

MAX_WORKERS = 64

RANGES_PER_WORKER = 8
"""Rows are not of equal length: with more ranges than workers, none waits long for the last one."""

TRIES = 5


def check_workers(count: int) -> None:
    """Refuses a number of workers that cannot be."""
    if not isinstance(count, int) or not 1 <= count <= MAX_WORKERS:
        raise UsageError(f"workers is {count!r}", f"give 1 to {MAX_WORKERS}")


@dataclass(frozen=True)
class _Worker:
    file: OpenFile
    reader: Reader


class _Disturbed(Exception):
    """Somebody wrote, or was about to, while the connections began to read."""


class Workers:
    """A pool of connections beside an archive's main one, which ``main`` reads on."""

    def __init__(self, main: Reader, open_another: Callable[[], OpenFile]) -> None:
        self._main = main
        self._open_another = open_another
        self._kept: list[_Worker] = []
        self._split: tuple[object, tuple[Range, ...] | None] | None = None

    def close(self) -> None:
        """Closes them; to be called before the main connection is closed."""
        while self._kept:
            self._kept.pop().file.close()

    @contextmanager
    def together(self, count: int) -> Iterator[Team]:
        """Up to ``count`` readers, the main one included, in read transactions of one moment."""
        with ExitStack() as transactions:
            yield self._begin(count, transactions)

    def _begin(self, count: int, transactions: ExitStack) -> Team:
        reason = None
        if count > 1:
            reason = self._why_alone(count)
            readers = [worker.reader for worker in self._kept[: count - 1]]
            for _ in range(0 if reason else TRIES):
                try:
                    with ExitStack() as tried:
                        self._begin_at_once(readers, tried)
                        transactions.push(tried.pop_all())
                    return self._team(count, readers)
                except _Disturbed:
                    reason = "the archive was written to at each try to begin"
        self._main.refresh()
        transactions.enter_context(self._main.database.snapshot())
        return Team((self._main,), (), reason)

    def _why_alone(self, count: int) -> str | None:
        """Opens the connections that are missing; why the main one has to do, where it has to."""
        connection: Any = self._main.database.connection
        if not hasattr(connection, "txn_state"):
            return "the standard library's sqlite3 does not tell whether a connection is reading"
        if connection.in_transaction or connection.txn_state("main"):
            # It sees rows of its own, or those of an earlier moment.
            return "the connection is in a transaction"
        import apsw

        try:
            while len(self._kept) < count - 1:
                self._kept.append(self._opened())
        except (ReasoningFtsError, apsw.Error, OSError) as error:
            text = error.message if isinstance(error, ReasoningFtsError) else str(error)
            return f"no other connection could be opened ({text})"
        return None

    def _opened(self) -> _Worker:
        file = self._open_another()
        try:
            file.connection.set_progress_handler(None)  # a signal goes to the caller's thread
            database = Database(file.connection, path=self._main.database.path)
            reader = Reader(database, self._main.adapter)
            _check_reads_alike(self._main, reader)
        except BaseException:
            file.close()
            raise
        return _Worker(file, reader)

    def _begin_at_once(self, readers: Sequence[Reader], transactions: ExitStack) -> None:
        """Begins on the main connection and the others; raises _Disturbed if somebody wrote."""
        versions = []
        for reader in readers:
            reader.refresh()
            versions.append(reader.state())
        self._main.refresh()
        transactions.enter_context(self._main.database.snapshot())
        self._main.state()  # the first read: from here on it sees this moment
        for reader, version in zip(readers, versions, strict=True):
            if _begun(reader, transactions) != version:
                raise _Disturbed
        for reader in (self._main, *readers):
            reader.refresh()

    def _team(self, count: int, readers: Sequence[Reader]) -> Team:
        state = (self._main.state(), count)
        if self._split is None or self._split[0] != state:
            found = split(self._main, count * RANGES_PER_WORKER)
            self._split = (state, None if found is None else tuple(found))
        ranges = self._split[1]
        if ranges is None:
            return Team((self._main,), (), "its rows cannot be looked up by ranges")
        if len(ranges) < 2:
            return Team((self._main,), (), "there are no rows to share out")
        return Team((self._main, *readers[: len(ranges) - 1]), ranges)


def _begun(reader: Reader, transactions: ExitStack) -> tuple[int, int]:
    """Begins a read transaction; the state that it sees."""
    connection: Any = reader.database.connection
    transactions.enter_context(reader.database.snapshot())
    # The main connection reads already. A writer that waits for it would wait until we give up.
    connection.set_busy_timeout(0)
    try:
        return reader.state()
    except FileError as error:
        if error.kind == "in_use":
            raise _Disturbed from error
        raise
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)


def _check_reads_alike(main: Reader, other: Reader) -> None:
    """Raises if the other connection lacks what a host has added to its own: functions, collations
    and tokenizers, or has SQLite's own function where the host has put another one."""
    columns = ", ".join(quote_name(column) for column in other.columns)
    other.database.all(f"SELECT {columns} FROM {other.source} LIMIT 0")
    other.parse("a")
    added = "SELECT name FROM pragma_function_list WHERE NOT builtin"
    replaced = {name for (name,) in main.database.all(added)} - {
        name for (name,) in other.database.all(added)
    }
    builtin = {name for (name,) in other.database.all("SELECT name FROM pragma_function_list")}
    if replaced & builtin:
        raise FaultError(f"the host has replaced SQLite's {', '.join(sorted(replaced & builtin))}")
