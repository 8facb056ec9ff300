"""Installing the hosts: what is missing is said, and nothing that is there is done again."""

from __future__ import annotations

import shutil
from pathlib import Path

import install
import pytest
from conftest import require


def test_a_missing_node_is_named_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    failure = install.install_node(tmp_path / "node")
    assert failure is not None
    assert "install Node.js 20 or newer with npm" in failure
    assert list(tmp_path.iterdir()) == []


def test_a_missing_python_is_named_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("interpreters.that_loads", lambda: None)
    failure = install.install_datasette(tmp_path / "datasette")
    assert failure is not None
    assert "sqlite3 that can load extensions" in failure
    assert list(tmp_path.iterdir()) == []


def test_a_registry_that_does_not_answer_is_reported_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("npm") is None:
        require(install.NODE_MISSING)
    # Nobody listens on loopback's port 1.
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    done: list[Path] = []
    monkeypatch.setattr(install, "install_datasette", lambda folder: done.append(folder))
    monkeypatch.setattr(install, "RETRIES", 0)
    assert install.main(tmp_path) == 1
    assert done == [tmp_path / "datasette"]
    said = capfd.readouterr().err
    assert "hosts: node: npm install" in said
    assert "ECONNREFUSED" in said
    assert "the next make tries again" in said


def test_what_is_installed_is_left_and_what_is_wanted_anew_is_installed_anew(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "host"
    calls: list[bool] = []

    def installing() -> None:
        calls.append(any(folder.iterdir()))
        (folder / "program").touch()

    for wanted in ("one", "one", "two"):
        assert install.once(folder, wanted, installing) is None
    assert calls == [False, False]


def test_a_failed_installation_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "host"
    assert install.once(folder, "one", lambda: "no answer") == "no answer"
    assert install.once(folder, "one", lambda: None) is None


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(install, "SECONDS", 0.2)
    # Whatever still held the pipe would keep `run` from reading it to its end.
    failure = install.run(["sh", "-c", "sleep 600 & sleep 600"], cwd=tmp_path)
    assert failure is not None
    assert "did not end within" in failure
    assert "registry" in failure
