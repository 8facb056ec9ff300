"""Opening somebody's archive so that reading never writes and never breaks another's locks.

Two rules shape this module.

*Reading never writes.* The file is opened read-write with ``query_only`` on, not read-only: only
a connection that may write lets SQLite itself remove the empty WAL that opening made. Where the
WAL has frames, closing must not check-point them, so ``NO_CKPT_ON_CLOSE`` is set and the files
stay. Where a lock file cannot be made or a crashed writer's journal would be rolled back, a
private copy is read instead.

*POSIX locks belong to the process.* Closing any handle on a file drops the locks that every other
handle of the process holds on it. So nothing here opens the file except through apsw's SQLite, a
file that this process holds through anything else is refused, and what must be read as bytes (a
header, a copy) is read by a subprocess.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from .database import Database, translate
from .errors import FileError, NoRoomError
from .holders import check_not_held, marked_as_ours

if TYPE_CHECKING:
    import apsw

BUSY_TIMEOUT_MS = 5000
"""A lock that is held for a moment must not turn into an error."""

INTERRUPT_STEPS = 20_000
"""SQLite instructions between two looks at a pending Ctrl-C."""


@dataclass(frozen=True)
class Identity:
    """Which file a path names: replaced files differ, and so do files that were written to."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: str) -> Identity:
        found = os.stat(path)
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def is_same_file(self, other: Identity) -> bool:
        return (self.device, self.inode) == (other.device, other.inode)


@dataclass
class OpenFile:
    """A connection for reading, and what its closing has to do."""

    connection: apsw.Connection
    path: str
    read_path: str
    identity: Identity
    copy_folder: str | None

    @property
    def is_private_copy(self) -> bool:
        """Whether a copy is read, because the place of the file allows no reading."""
        return self.copy_folder is not None

    def check_not_replaced(self) -> None:
        """Raises if the path names another file than the one that was opened."""
        try:
            now = Identity.of(self.path)
        except OSError:
            now = None
        if now is None or not now.is_same_file(self.identity):
            raise FileError(
                "changed",
                f"{self.path}: the file was replaced or removed while it was read",
                "run it again on the file that is there now",
            )

    def another(self) -> OpenFile:
        """One more connection to what is read here, to be closed before this one."""
        if not self.is_private_copy:
            self.check_not_replaced()
            check_not_held(self.read_path)
        connection = _connect(self.read_path, _flags(self.read_path))
        further = OpenFile(connection, self.path, self.read_path, self.identity, None)
        try:
            if not self.is_private_copy:
                self.check_not_replaced()
        except BaseException:
            further.close()
            raise
        return further

    def close(self) -> None:
        import apsw

        if size_of(self.read_path + "-wal"):
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.connection.close()
        if self.copy_folder:
            shutil.rmtree(self.copy_folder, ignore_errors=True)


def open_file(path: str | os.PathLike[str]) -> OpenFile:
    """Opens an archive for reading; raises a FileError that says what is wrong with it."""
    # Of a link, SQLite keeps WAL and journal beside the target; so do we look there.
    name = os.path.realpath(os.fspath(path))
    check_path(name)
    check_not_held(name)
    if _needs_copy(name):
        return _open_copy(name)
    import apsw

    try:
        return OpenFile(_connect(name, _flags(name)), name, name, Identity.of(name), None)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return _open_copy(name)
    except apsw.NotADBError as error:
        raise _not_a_database(name) from error
    except apsw.Error as error:
        raise translate(error, name) or error from error


def open_beside(host: apsw.Connection) -> OpenFile:
    """A connection of ours to the file that a host's own connection reads.

    Raises a FileError where there is no such file, or where it cannot be known to be the same.
    """
    path = host.db_filename("main")
    if not path or not os.path.isfile(path):
        raise FileError("cannot_open", "the database is in memory or temporary", None)
    name = os.path.realpath(path)
    identity = Identity.of(name)
    if _has_moved(host):
        raise FileError("changed", f"{path}: the file was replaced or removed", None)
    check_not_held(name)
    opened = OpenFile(_connect(name, _flags(name), host.open_vfs), path, name, identity, None)
    try:
        opened.check_not_replaced()
        # A host may have been told to pay no heed to the WAL.
        ours, theirs = (Database(c).pragma("journal_mode") for c in (opened.connection, host))
        if ours != theirs:
            raise FileError("cannot_open", f"{path}: the host reads it in another way", None)
    except BaseException:
        opened.close()
        raise
    return opened


def _has_moved(connection: apsw.Connection) -> bool:
    """Whether the path of the main database names another file by now, as SQLite sees it."""
    import apsw

    moved = ctypes.c_int(0)
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved))
    return bool(moved.value)


def _flags(name: str) -> int:
    """How to open a file so that nothing in it is changed."""
    import apsw

    if size_of(name + "-journal"):
        return apsw.SQLITE_OPEN_READONLY  # a writer at work, or a crashed one: roll nothing back
    return apsw.SQLITE_OPEN_READWRITE


def _connect(name: str, flags: int, vfs: str | None = None) -> apsw.Connection:
    """Connects and reads once, so that whatever is wrong with the file shows here."""
    import apsw

    with marked_as_ours(name):
        connection = apsw.Connection(uri(name), flags=flags | apsw.SQLITE_OPEN_URI, vfs=vfs)
    keep_awake(connection)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute("PRAGMA query_only = 1")
        connection.execute("SELECT count(*) FROM main.sqlite_schema").fetchall()
    except BaseException:
        if size_of(name + "-wal"):
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
        raise
    return connection


def keep_awake(connection: apsw.Connection) -> None:
    """Lets Python see a signal that comes during a long statement, which is C alone."""
    connection.set_progress_handler(_go_on, INTERRUPT_STEPS)


def _go_on() -> bool:
    return False


def scratch_folder() -> str:
    """A new folder for private files, below TMPDIR where that is set."""
    wanted = os.environ.get("TMPDIR")
    if wanted and not os.path.isdir(wanted):
        raise FileError(
            "not_found", f"TMPDIR names no folder: {wanted}", "make it, or name another one"
        )
    return tempfile.mkdtemp(prefix="reasoning-fts-")


def uri(name: str, mode: str | None = None) -> str:
    """A path as the URI that SQLite takes."""
    return f"file:{quote(os.fsencode(name))}" + (f"?mode={mode}" if mode else "")


def size_of(path: str) -> int:
    """A file's size in bytes, 0 if there is none. It is not opened."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def check_path(name: str) -> None:
    """Refuses what cannot be an archive, without opening it."""
    try:
        found = os.stat(name)
    except FileNotFoundError:
        raise FileError(
            "not_found", f"{name}: no such file", "check the path of the agent's database"
        ) from None
    except PermissionError:
        raise FileError(
            "permission",
            f"{name}: its folder cannot be read",
            "run it as the user who owns the agent's files",
        ) from None
    except (OSError, ValueError) as error:
        raise FileError("cannot_open", f"{name}: {error}", "check the path") from error
    if stat.S_ISDIR(found.st_mode):
        inside = (
            sorted(
                p.name for p in Path(name).iterdir() if p.suffix in {".db", ".sqlite", ".sqlite3"}
            )
            if os.access(name, os.R_OK | os.X_OK)
            else []
        )
        hint = f"give a file, such as {os.path.join(name, inside[0])}" if inside else "give a file"
        raise FileError("directory", f"{name}: is a directory", hint)
    if not stat.S_ISREG(found.st_mode):
        raise FileError("not_a_database", f"{name}: is not a regular file", "give a database file")
    if not os.access(name, os.R_OK):
        raise FileError(
            "permission",
            f"{name}: no permission to read it",
            "run it as the user who owns the file, or on a copy",
        )
    if found.st_size == 0:
        raise FileError(
            "empty",
            f"{name}: the file is empty (0 bytes)",
            "the agent has not written to it yet, or this is not its database",
        )


def _needs_copy(name: str) -> bool:
    """A WAL database whose lock file we would have to make and could not remove again."""
    if os.access(name, os.W_OK) and os.access(os.path.dirname(name), os.W_OK):
        return False
    if os.path.exists(name + "-shm"):
        return False
    return _header(name)[18:19] == b"\x02"


def _header(name: str) -> bytes:
    """The first 100 bytes, read by another process."""
    code = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read(100))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, name], capture_output=True, check=False
    )
    return done.stdout


def _not_a_database(name: str) -> FileError:
    header = _header(name)
    printable = sum(32 <= byte < 127 or byte in b"\t\r\n" for byte in header)
    if header and printable < len(header) * 0.8 and size_of(name) % 512 == 0:
        return FileError(
            "encrypted",
            f"{name}: encrypted, or not a SQLite database",
            "decrypt it to a plain SQLite file first, with the agent's own tools",
        )
    return FileError(
        "not_a_database",
        f"{name}: not a SQLite database",
        "give the agent's database file, not an export or a log",
    )


def _open_copy(name: str) -> OpenFile:
    """Reads a private copy of file, WAL and journal, made by another process."""
    import apsw

    needed = sum(size_of(name + suffix) for suffix in ("", "-wal", "-journal"))
    folder = scratch_folder()
    try:
        check_room(folder, needed, "a private copy, since the file's folder cannot be written")
        target = os.path.join(folder, os.path.basename(name))
        _copy_quietly(name, target)
        connection = _connect(target, apsw.SQLITE_OPEN_READWRITE)
        return OpenFile(connection, name, target, Identity.of(name), folder)
    except apsw.NotADBError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _not_a_database(name) from error
    except apsw.Error as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise translate(error, name) or error from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _copy_quietly(name: str, target: str) -> None:
    """Copies until file, WAL and journal stay as they were from before to after the copy."""
    code = (
        "import shutil, sys, os\n"
        "for suffix in ('', '-wal', '-journal'):\n"
        "    if os.path.exists(sys.argv[1] + suffix):\n"
        "        shutil.copyfile(sys.argv[1] + suffix, sys.argv[2] + suffix)\n"
    )
    for _ in range(5):
        before = _state(name)
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, name, target],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["unknown"])[-1]
            if "No space left" in reason:
                raise NoRoomError(
                    f"{target}: no room for a private copy", "set TMPDIR to a larger disk"
                )
            raise FileError("cannot_open", f"{name}: cannot be copied: {reason}", None)
        if _state(name) == before:
            return
    raise FileError(
        "changed",
        f"{name}: the file keeps changing, and its folder allows no reading beside the writer",
        "stop the agent for a moment, or run it as the user who owns the folder",
    )


def _state(name: str) -> list[tuple[int, int]]:
    found = []
    for suffix in ("", "-wal", "-journal"):
        try:
            entry = os.stat(name + suffix)
            found.append((entry.st_size, entry.st_mtime_ns))
        except OSError:
            found.append((-1, 0))
    return found


def check_room(folder: str, needed: int, purpose: str) -> None:
    """Refuses to start what would fill the disk; ``needed`` is in bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed * 1.05 + (16 << 20):
        raise NoRoomError(
            f"{folder}: {needed / 1e6:,.0f} MB are needed for {purpose}, {free / 1e6:,.0f} MB "
            "are free",
            "free some room, or set TMPDIR to a folder on a larger disk",
        )
