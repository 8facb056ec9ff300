"""Loading the SQL functions into connections of Python's two SQLite modules."""

from __future__ import annotations

import ast
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from loading_python import LoadingPython

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts._version import __version__


def test_load_makes_the_functions_known_to_an_apsw_connection() -> None:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    assert connection.execute("SELECT reasoning_version()").get == __version__


def test_load_works_on_a_connection_that_has_a_row_trace() -> None:
    connection = apsw.Connection(":memory:")
    connection.row_trace = lambda cursor, row: {"all": row}
    rf.load(connection)
    row = connection.execute("SELECT reasoning_version()").fetchone()
    assert row == {"all": (__version__,)}


def test_loading_twice_does_nothing(connection: apsw.Connection) -> None:
    before = connection.total_changes()
    rf.load(connection)
    rf.load(connection)
    assert connection.total_changes() == before


def test_loading_twice_works_while_a_statement_runs(connection: apsw.Connection) -> None:
    running = connection.execute("VALUES (reasoning_version()), (2), (3)")
    next(running)
    rf.load(connection)
    assert [row[0] for row in running] == [2, 3]


def test_load_leaves_extension_loading_switched_off() -> None:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1) == 0
    with pytest.raises(apsw.SQLError, match="not authorized"):
        connection.execute("SELECT load_extension('nothing')")


def test_load_leaves_extension_loading_switched_on_where_it_was_on() -> None:
    connection = apsw.Connection(":memory:")
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    rf.load(connection)
    assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1) == 1


def test_load_switches_extension_loading_off_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "reasoning_fts.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr("sqlite_reasoning_fts.loading.extension_path", lambda: str(broken))
    connection = apsw.Connection(":memory:")
    with pytest.raises(rf.LoadError, match="cannot load"):
        rf.load(connection)
    assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1) == 0


def test_load_touches_no_row_of_the_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t(a)")
    made.close()
    before = path.read_bytes()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rf.load(connection)
    connection.close()
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db"]


def test_a_sqlite3_that_cannot_load_extensions_is_told_what_to_do() -> None:
    connection = sqlite3.connect(":memory:")
    if hasattr(connection, "enable_load_extension"):
        pytest.skip("this Python's sqlite3 can load extensions")
    with pytest.raises(rf.LoadError) as caught:
        rf.load(connection)
    assert caught.value.kind == "load"
    assert "apsw" in str(caught.value)
    assert "--enable-loadable-sqlite-extensions" in str(caught.value)


def test_something_that_is_no_connection_is_refused() -> None:
    with pytest.raises(rf.UsageError, match=r"builtins\.str is not a connection"):
        rf.load("archive.db")  # type: ignore[arg-type]


def test_a_closed_connection_raises_its_own_modules_error() -> None:
    connection = apsw.Connection(":memory:")
    connection.close()
    with pytest.raises(apsw.ConnectionClosedError):
        rf.load(connection)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite_reasoning_fts.loading._NAME", "nothing.so")
    with pytest.raises(rf.LoadError, match=r"missing: .*nothing\.so"):
        rf.extension_path()


def test_extension_path_is_absolute_and_names_the_entry_point_to_sqlite() -> None:
    path = Path(rf.extension_path())
    assert path.is_absolute()
    assert path.is_file()
    assert path.stem == "reasoning_fts"


def test_sqlite_finds_the_entry_point_by_the_files_name() -> None:
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(rf.extension_path())
    assert connection.execute("SELECT reasoning_version()").get == __version__


def test_loading_the_file_while_its_functions_run_is_refused_and_harms_nothing(
    connection: apsw.Connection,
) -> None:
    running = connection.execute("VALUES (reasoning_version()), (2)")
    next(running)
    connection.enable_load_extension(True)
    with pytest.raises(apsw.ExtensionLoadingError, match="while no statement of this"):
        connection.load_extension(rf.extension_path())
    assert [row[0] for row in running] == [2]
    assert connection.execute("SELECT reasoning_version()").get == __version__


def test_importing_the_package_imports_no_sqlite_and_no_terminal_library() -> None:
    code = (
        "import sys, sqlite_reasoning_fts\n"
        "print([n for n in ('apsw', 'cffi', 'click', 'rich') if n in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
    )
    assert ast.literal_eval(done.stdout) == []


PREAMBLE = """
import json, sqlite3, apsw
import sqlite_reasoning_fts as rf
VERSIONS = [apsw.sqlite_lib_version(), sqlite3.sqlite_version]
def host(connection):
    debug = connection.execute("SELECT reasoning_debug()").fetchone()[0]
    return json.loads(debug)["sqlite_version"]
"""


def test_load_works_on_a_sqlite3_connection(loading_python: LoadingPython) -> None:
    found = loading_python.run(
        PREAMBLE
        + """
connection = sqlite3.connect(":memory:")
connection.row_factory = lambda cursor, row: {"value": row[0]}
connection.text_factory = bytes
rf.load(connection)
rf.load(connection)
print(json.dumps(connection.execute("SELECT reasoning_version()").fetchone()["value"].decode()))
"""
    )
    assert found == __version__


def test_load_leaves_a_sqlite3_connection_as_open_or_closed_to_extensions_as_it_was(
    loading_python: LoadingPython,
) -> None:
    found = loading_python.run(
        PREAMBLE
        + """
def open_to_extensions(connection):
    try:
        connection.load_extension("no such library")
    except sqlite3.Error as error:
        return "not authorized" not in str(error)
states = []
for before in (True, False):
    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(before)
    rf.load(connection)
    states.append(open_to_extensions(connection))
print(json.dumps(states))
"""
    )
    assert found == [True, False]


@pytest.mark.parametrize("first", ["apsw", "sqlite3"])
def test_two_sqlite_libraries_of_one_process_both_keep_working(
    loading_python: LoadingPython, first: str
) -> None:
    versions, found, ranks, left = loading_python.run(
        PREAMBLE
        + f"""
import glob, os, tempfile
opened = {{
    "apsw": lambda: apsw.Connection(":memory:"), "sqlite3": lambda: sqlite3.connect(":memory:")
}}
order = ["apsw", "sqlite3"] if {first!r} == "apsw" else ["sqlite3", "apsw"]
connections = {{}}
for name in order + order:
    connections.setdefault(name, []).append(opened[name]())
    rf.load(connections[name][-1])
found = {{name: [host(c) for c in connections[name]] for name in order}}
ranks = []
for name in order:
    for c in connections[name]:
        c.execute("CREATE VIRTUAL TABLE t USING fts5(a, b)")
        c.execute("INSERT INTO t VALUES ('x y', 'x'), ('y', 'z'), ('', 'z')")
        ranks.append(c.execute("SELECT reasoning_bm25(t, '0') FROM t('x')").fetchone()[0])
left = glob.glob(os.path.join(tempfile.gettempdir(), "reasoning_fts-*"))
print(json.dumps([VERSIONS, found, ranks, left]))
"""
    )
    apsw_version, sqlite3_version = versions
    assert found == {"apsw": [apsw_version] * 2, "sqlite3": [sqlite3_version] * 2}
    assert len(ranks) == 4
    assert len(set(ranks)) == 1
    assert left == []


def test_a_second_sqlite_library_is_refused_by_the_file_itself(
    loading_python: LoadingPython,
) -> None:
    message, version, expected = loading_python.run(
        PREAMBLE
        + """
first = apsw.Connection(":memory:")
rf.load(first)
second = sqlite3.connect(":memory:")
second.enable_load_extension(True)
try:
    second.load_extension(rf.extension_path())
except sqlite3.OperationalError as error:
    print(json.dumps([str(error), host(first), VERSIONS[0]]))
"""
    )
    assert "already loaded by another SQLite library in this process" in message
    assert version == expected


def test_the_file_serves_another_sqlite_library_once_the_first_has_closed(
    loading_python: LoadingPython,
) -> None:
    found, expected = loading_python.run(
        PREAMBLE
        + """
first = apsw.Connection(":memory:")
rf.load(first)
first.close()
second = sqlite3.connect(":memory:")
second.enable_load_extension(True)
second.load_extension(rf.extension_path())
print(json.dumps([host(second), VERSIONS[1]]))
"""
    )
    assert found == expected


def test_a_temporary_folder_that_cannot_be_used_is_named(
    loading_python: LoadingPython,
) -> None:
    kind, text, unharmed = loading_python.run(
        PREAMBLE
        + """
import tempfile
first = apsw.Connection(":memory:")
rf.load(first)
tempfile.tempdir = "/nonexistent/folder"
try:
    second = sqlite3.connect(":memory:")
    rf.load(second)
except rf.LoadError as error:
    print(json.dumps([error.kind, str(error), host(first) == VERSIONS[0]]))
"""
    )
    assert kind == "load"
    assert "/nonexistent/folder" in text
    assert "TMPDIR" in text
    assert unharmed
