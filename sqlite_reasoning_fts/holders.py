"""Who in this process holds a file: POSIX locks belong to the process, not to a handle.

Closing any handle on a file drops the locks that every other handle of the process holds on it. Two
SQLite libraries in one process do not know of each other, so a file that another one holds must not
be opened here.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import FileError


def check_not_held(name: str) -> None:
    """Refuses a file that this process holds through anything but apsw's own SQLite.

    Opening it here and closing it again would drop the other holder's locks, and another process
    could then overwrite what it has committed. Handles that apsw opened here are marked, since
    SQLite closes them later than their connection where another one still has locks; those of the
    host's own apsw connections are counted.
    """
    target = os.stat(name)
    foreign = sum(1 for number in _handles_of(target) if not _is_marked(number))
    if foreign > _apsw_connections(target):
        raise FileError(
            "in_use",
            f"{name}: this process already holds the file through another SQLite library "
            "or a file handle",
            "pass that connection to open(), or run the work in a process of its own "
            "(the command reasoning-fts)",
        )


@contextmanager
def marked_as_ours(name: str) -> Iterator[None]:
    """Marks the handles on a file that SQLite opens meanwhile.

    The mark is the signal that an asynchronous handle would send; ours are not asynchronous, so it
    has no effect. It belongs to the open file and goes with it, so a number that is used again
    carries no old mark.
    """
    target = os.stat(name)
    before = set(_handles_of(target))
    yield
    for number in _handles_of(target):
        if number not in before and sys.platform == "linux":
            fcntl.fcntl(number, _F_SETSIG, _MARK)


_F_SETSIG, _F_GETSIG, _MARK = 10, 11, 63
"""Linux's numbers of the two calls, and the highest real-time signal but one."""


def _is_marked(number: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return fcntl.fcntl(number, _F_GETSIG) == _MARK
    except OSError:
        return False


def _handles_of(target: os.stat_result) -> Iterator[int]:
    """The numbers of this process's handles on a file."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    try:
        numbers = [int(entry) for entry in os.listdir(folder)]
    except (OSError, ValueError):  # a platform without a list of handles
        return
    for number in numbers:
        try:
            if os.path.samestat(os.fstat(number), target):
                yield number
        except OSError:
            continue


def _apsw_connections(target: os.stat_result) -> int:
    """How many of the open apsw databases with an unmarked handle may be this file.

    On Linux those are the host's own; where handles cannot be marked, ours are counted with them.
    """
    import apsw

    count = 0
    for connection in apsw.connections():
        try:
            files = [connection.db_filename(schema) for schema in connection.db_names()]
        except (apsw.Error, apsw.ConnectionClosedError):
            continue
        for file in filter(None, files):
            try:
                count += os.path.samestat(os.stat(file), target)
            except OSError:
                continue
    marked = sum(1 for number in _handles_of(target) if _is_marked(number))
    return max(0, count - marked)
