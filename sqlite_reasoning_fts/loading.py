"""Loads the SQL functions into a connection.

SQLite maps a library file once a process, and the library belongs to the SQLite that
loaded it first. Where a process holds two (Python's ``sqlite3`` beside apsw), the second
one gets a private copy of the file. That is found out by trying, so nothing is
remembered between calls.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ._version import __version__
from .errors import LoadError, UsageError

_NAME = {"darwin": "reasoning_fts.dylib", "win32": "reasoning_fts.dll"}.get(
    sys.platform, "reasoning_fts.so"
)
_TAKEN = "already loaded by another SQLite library"
_NOT_ENABLED = "not authorized"


def extension_path() -> str:
    """The absolute path of the loadable library, for any host that loads extensions.

    SQLite finds the entry point by the file's name; a host that wants it spelled out
    takes ``sqlite3_reasoningfts_init``.
    """
    path = Path(__file__).resolve().parent / _NAME
    if not path.is_file():
        raise LoadError(
            f"the loadable library is missing: {path}",
            "reinstall sqlite-reasoning-fts; in a checkout run: make build",
        )
    return str(path)


def load(connection: Any) -> None:
    """Makes the ``reasoning_...`` functions known to an open connection.

    Takes an ``apsw.Connection`` or a ``sqlite3.Connection``. Loading twice does nothing.
    Whether the connection may load extensions is left as it was. Raises LoadError.
    """
    error_type = _error_type(connection)
    if _is_loaded(connection, error_type):
        return
    path = extension_path()
    try:
        _load_file(connection, path, error_type)
    except error_type as error:
        if _TAKEN not in str(error):
            raise _failure(path, error) from error
        _load_copy(connection, path, error_type)
    if not _is_loaded(connection, error_type):
        raise LoadError(
            f"{path} was loaded, but its version is not {__version__}",
            "reinstall sqlite-reasoning-fts: the library and the Python code differ",
        )


def _error_type(connection: Any) -> type[Exception]:
    """The exception that this connection's module raises.

    Whoever has a connection has imported its module, so none is imported here.
    """
    for name in ("apsw", "sqlite3"):
        module = sys.modules.get(name)
        kind = getattr(module, "Connection", None)
        if kind is not None and isinstance(connection, kind):
            found: type[Exception] = module.Error  # type: ignore[union-attr]
            return found
    raise UsageError(
        f"load: {type(connection).__module__}.{type(connection).__qualname__} is not a"
        " connection that this package knows",
        "give an apsw.Connection or a sqlite3.Connection; other hosts load the file"
        " that extension_path() names",
    )


def _is_loaded(connection: Any, error_type: type[Exception]) -> bool:
    # The comparison is made in SQL, since a row or text factory may turn values into anything.
    sql = f"SELECT 1 WHERE CAST(reasoning_version() AS TEXT) = '{__version__}'"
    try:
        return len(list(connection.execute(sql))) > 0
    except error_type as error:
        if "no such function" in str(error):
            return False
        raise


def _load_file(connection: Any, path: str, error_type: type[Exception]) -> None:
    """Loads a file, switching extension loading on only where it is off."""
    if not hasattr(connection, "enable_load_extension"):
        raise LoadError(
            f"{type(connection).__module__}.Connection of this Python cannot load extensions"
            " (it has no enable_load_extension)",
            "use apsw.Connection, or a Python built with --enable-loadable-sqlite-extensions",
        )
    try:
        connection.load_extension(path)
    except error_type as error:
        if _NOT_ENABLED not in str(error):
            raise
    else:
        return
    connection.enable_load_extension(True)
    try:
        connection.load_extension(path)
    finally:
        connection.enable_load_extension(False)


def _load_copy(connection: Any, path: str, error_type: type[Exception]) -> None:
    """Loads a private copy: another file is another image, with variables of its own."""
    try:
        folder = tempfile.mkdtemp(prefix="reasoning_fts-")
        try:
            # The name stays, since SQLite derives the entry point from it.
            copy = str(Path(folder) / _NAME)
            shutil.copyfile(path, copy)
            _load_file(connection, copy, error_type)
        finally:
            # A mapped library needs no name; where the system keeps one, so do we.
            shutil.rmtree(folder, ignore_errors=True)
    except (OSError, error_type) as error:
        raise _failure(
            path,
            error,
            "another SQLite library of this process has the file, and a private copy in the"
            f" temporary folder {tempfile.gettempdir()} cannot be loaded; set TMPDIR to a"
            " folder that has room and may hold programs",
        ) from error


def _failure(path: str, error: Exception, hint: str | None = None) -> LoadError:
    text = str(error)
    if hint is None and "old" not in text and "FTS5" not in text:
        hint = "reinstall sqlite-reasoning-fts for this platform"
    return LoadError(f"cannot load {path}: {text}", hint)
