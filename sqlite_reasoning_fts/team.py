"""Connections that read one archive at one moment, and the threads that drive them.

SQLite's C code runs outside Python's lock, so threads scan in parallel, each on a connection of its
own. The caller's thread drives the archive's main connection, so that an interrupt, Ctrl-C and
whatever else stops a search on one connection stops it here as well; the others stop with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Generic, TypeVar

from .ranges import Range
from .reader import Reader, RowCounts

PATIENCE_SECONDS = 0.02
"""Between two interrupts: one that comes between two statements stops nothing."""

T = TypeVar("T")


@dataclass(frozen=True)
class Team:
    """Readers of the same rows, the archive's main one first, and the ranges they share out.

    ``alone_because`` says why there is but one, where more were asked for.
    """

    readers: tuple[Reader, ...]
    ranges: tuple[Range, ...] = ()
    alone_because: str | None = None

    @property
    def main(self) -> Reader:
        return self.readers[0]

    def each(self, task: Callable[[Reader, Range], T]) -> list[T]:
        """What a task gives for each range, in their order; the last ones are begun first.

        The first failure stops all and is raised here. No thread outlives the call.
        """
        work = _Work(task, self.readers, self.ranges)
        threads: list[Thread] = []
        try:
            for reader in self.readers[1:]:
                threads.append(Thread(target=work.help, args=(reader,), name="reasoning-fts"))
                threads[-1].start()
            work.drive(self.main)
        except BaseException as error:
            work.fail(error)
        work.wait_for(threads)
        if work.failures:
            # A Ctrl-C is never kept from the caller.
            raise next(
                (error for error in work.failures if not isinstance(error, Exception)),
                work.failures[0],
            )
        return [work.results[place] for place in range(len(self.ranges))]

    def counts(self, scope: str) -> RowCounts:
        """What a search covers, as ``Reader.counts`` has it."""
        if len(self.readers) == 1 or scope == "said":
            return self.main.counts(scope)
        parts = self.each(Reader.counts_of)
        return RowCounts(
            sum(part.rows for part in parts),
            sum(part.rows_with_reasoning for part in parts),
            sum(part.rows_unreadable for part in parts),
        )


class _Work(Generic[T]):
    """The ranges that are left, what was found in the others, and whether to go on."""

    def __init__(
        self,
        task: Callable[[Reader, Range], T],
        readers: Sequence[Reader],
        ranges: Sequence[Range],
    ) -> None:
        self._task = task
        self._readers = readers
        self._left = deque(enumerate(ranges))
        self._stopped = Event()
        self._main_is_done = Event()
        self.results: dict[int, T] = {}
        self.failures: list[BaseException] = []

    def drive(self, reader: Reader) -> None:
        """Takes range after range until none is left or one fails."""
        try:
            while not self._stopped.is_set():
                try:
                    place, rows = self._left.pop()
                except IndexError:
                    return
                self.results[place] = self._task(reader, rows)
        except BaseException as error:
            self.fail(error)

    def help(self, reader: Reader) -> None:
        """Drives a reader in a thread of its own, and sees to it that the main one stops too."""
        self.drive(reader)
        while self._stopped.is_set() and not self._main_is_done.wait(PATIENCE_SECONDS):
            self._interrupt(self._readers[:1])

    def fail(self, error: BaseException) -> None:
        """Keeps a failure and lets nobody go on; those that are interrupted fail after it."""
        self.failures.append(error)
        self._stopped.set()
        if not self._main_is_done.is_set():
            self._interrupt(self._readers[:1])
        self._interrupt(self._readers[1:])

    def wait_for(self, threads: Sequence[Thread]) -> None:
        """Returns when the threads have ended, whatever comes meanwhile."""
        self._main_is_done.set()
        while any(thread.is_alive() for thread in threads):
            try:
                for thread in threads:
                    thread.join(PATIENCE_SECONDS)
                if self._stopped.is_set():
                    self._interrupt(self._readers[1:])
            except BaseException as error:  # Ctrl-C, or what a signal's handler raises
                self.fail(error)

    def _interrupt(self, readers: Sequence[Reader]) -> None:
        for reader in readers:
            connection: Any = reader.database.connection
            connection.interrupt()
