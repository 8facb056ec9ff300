"""The library file itself: what it shows, and whom it refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import cffi
import pytest
from conftest import require

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts._version import __version__

CSRC = Path(__file__).parent.parent / "csrc"
DECLARED = re.findall(r"RF_EXPORT [^;(]*?(\w+)\(", (CSRC / "native.h").read_text(encoding="utf-8"))
EXPORTS = {"sqlite3_reasoningfts_init", *DECLARED}


def symbols(*options: str) -> set[str]:
    nm = shutil.which("nm")
    if nm is None:
        require("nm is not installed")
    command = [nm, "-g", *options] if sys.platform == "darwin" else [nm, "-D", *options]
    listing = subprocess.run(
        [*command, rf.extension_path()], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if line}
    return {name.removeprefix("_") for name in names} if sys.platform == "darwin" else names


def test_exactly_the_documented_symbols_are_exported() -> None:
    assert "reasoning_fts_query_match" in EXPORTS
    assert symbols("--defined-only") == EXPORTS


def test_neither_sqlite_nor_python_is_linked() -> None:
    wanted = symbols("--undefined-only")
    assert not {name for name in wanted if name.startswith(("sqlite3_", "Py", "_Py"))}


def test_library_package_and_sql_tell_one_version(connection: apsw.Connection) -> None:
    assert rf.__version__ == __version__
    assert connection.execute("SELECT reasoning_version()").get == __version__


def test_the_library_may_be_used_where_the_schema_is_not_trusted(
    connection: apsw.Connection,
) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("CREATE TEMP VIEW v AS SELECT reasoning_version() AS x")
    assert connection.execute("SELECT x FROM v").get == __version__


def test_an_index_on_the_version_is_refused(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE t(a)")
    with pytest.raises(apsw.SQLError, match="non-deterministic"):
        connection.execute("CREATE INDEX i ON t(reasoning_version())")


# ---- the entry point, called with another SQLite's table of functions --------------------


class OtherSQLite:
    """A stand-in for another SQLite library: enough of its functions to be refused."""

    def __init__(self, number: int, text: str) -> None:
        header = (CSRC / "vendor" / "sqlite" / "sqlite3ext.h").read_text(encoding="utf-8")
        body = header.partition("struct sqlite3_api_routines {")[2].partition("\n};")[0]
        declared = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL).split(";")
        # Of each declaration the first name in `(*name)(`: later ones are its parameters.
        found = [re.search(r"\((?:SQLITE_CDECL)?\s*\*(\w+)\)", one) for one in declared]
        slots = [match.group(1) for match in found if match]
        assert len(slots) == len([one for one in declared if one.strip()])
        self.ffi = cffi.FFI()
        self.ffi.cdef("int sqlite3_reasoningfts_init(void *, char **, void **);")
        self.library = self.ffi.dlopen(rf.extension_path())
        self.text = self.ffi.new("char[]", text.encode())
        self.formats: list[bytes] = []
        self.functions = [
            self.ffi.callback("int(void)", lambda: number),
            self.ffi.callback("const char *(void)", lambda: self.text),
            self.ffi.callback("char *(const char *)", self.mprintf),
        ]
        self.api = self.ffi.new("void *[]", len(slots))
        for name, function in zip(
            ("libversion_number", "libversion", "mprintf"), self.functions, strict=True
        ):
            self.api[slots.index(name)] = self.ffi.cast("void *", function)

    def mprintf(self, message: Any) -> Any:
        self.formats.append(self.ffi.string(message))
        return message

    def load(self) -> int:
        message = self.ffi.new("char **")
        code: int = self.library.sqlite3_reasoningfts_init(self.ffi.NULL, message, self.api)
        assert message[0] != self.ffi.NULL
        return code


@pytest.fixture
def other() -> Callable[[int, str], OtherSQLite]:
    if sys.platform == "win32":
        require("the stand-in for a variadic function needs another calling convention here")
    return OtherSQLite


def test_an_sqlite_below_the_floor_is_refused(
    other: Callable[[int, str], OtherSQLite], connection: apsw.Connection
) -> None:
    old = other(3037002, "3.37.2")
    assert old.load() == apsw.SQLITE_ERROR
    assert b"SQLite %s is too old, 3.38.0 or newer is needed" in old.formats[0]


def test_a_second_sqlite_is_refused_through_its_own_functions(
    other: Callable[[int, str], OtherSQLite], connection: apsw.Connection
) -> None:
    second = other(3054001, "3.54.1")
    assert second.load() == apsw.SQLITE_ERROR
    assert b"already loaded by another SQLite library" in second.formats[0]
    assert connection.execute("SELECT reasoning_version()").get == __version__


def test_an_sqlite_that_denies_fts5_is_told_so() -> None:
    connection = apsw.Connection(":memory:")

    def deny(operation: int, *names: str | None) -> int:
        denied = operation == apsw.SQLITE_FUNCTION and names[1] == "fts5"
        return apsw.SQLITE_DENY if denied else apsw.SQLITE_OK

    connection.authorizer = deny
    with pytest.raises(rf.LoadError, match="FTS5 of this SQLite cannot be reached: not auth"):
        rf.load(connection)
    connection.authorizer = None
    rf.load(connection)
    assert connection.execute("SELECT reasoning_version()").get == __version__
