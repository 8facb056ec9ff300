"""What all tests share: a connection, the shared data, and how to skip."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import apsw
import pytest

import sqlite_reasoning_fts as rf

if TYPE_CHECKING:
    from loading_python import LoadingPython
    from oracle import Oracle


def require(reason: str) -> NoReturn:
    """Ends a test that lacks a facility: a skip, or a failure where none may be skipped."""
    if os.environ.get("REASONING_FTS_REQUIRE") == "1":
        pytest.fail(f"REASONING_FTS_REQUIRE=1, but {reason}", pytrace=False)
    pytest.skip(reason)


def pytest_report_header() -> list[str]:
    return [
        f"SQLite: apsw {apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()}),"
        f" sqlite3 {sqlite3.sqlite_version}"
    ]


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    """An in-memory database with the SQL functions."""
    opened = apsw.Connection(":memory:")
    try:
        rf.load(opened)
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="module")
def real() -> Iterator[Oracle]:
    """Real FTS5 tables, on a connection with the SQL functions."""
    from oracle import Oracle

    opened = apsw.Connection(":memory:")
    rf.load(opened)
    yield Oracle(opened)
    opened.close()


@pytest.fixture(scope="session")
def data() -> Path:
    """The shared data: real agents' archives and traces."""
    named = os.environ.get("REASONING_FTS_DATA")
    if not named:
        require("the variable REASONING_FTS_DATA does not name the shared data")
    path = Path(named)
    if not path.is_dir():
        require(f"REASONING_FTS_DATA names no folder: {path}")
    return path


@pytest.fixture(scope="session")
def hermes_package(request: pytest.FixtureRequest) -> Path:
    """The installed agent, kept between runs."""
    import archives

    cache = request.config.cache
    assert cache is not None
    return archives.hermes_package(Path(cache.mkdir("hermes")))


@pytest.fixture(scope="session")
def written_by_hermes(hermes_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An archive that the agent's own code wrote; nobody changes it."""
    import archives

    path = tmp_path_factory.mktemp("hermes") / "state.db"
    return archives.write_hermes_archive(
        path, package=hermes_package, search=("zebrafish", "quokka", "sturgeon", "linker")
    )


@pytest.fixture(scope="session")
def demo_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small generated archive; nobody changes it."""
    import archives

    return Path(archives.demo_archive(tmp_path_factory.mktemp("demo"), 0.005).path)


@pytest.fixture(scope="session")
def as_plain_user() -> Callable[[list[str]], subprocess.CompletedProcess[str]]:
    """Runs a command for which file permissions count, which they do not for root."""
    prefix: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            require("this is root, and setpriv, which makes permissions count, is missing")
        dropped = "-dac_override,-dac_read_search"
        prefix = ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(prefix + command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def loading_python(request: pytest.FixtureRequest) -> LoadingPython:
    """A Python whose own sqlite3 loads extensions, with another SQLite than apsw's."""
    from loading_python import find

    return find(request.config.cache)
