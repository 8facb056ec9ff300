"""Making a demo archive: reproducible, with progress, with clear refusals, never half done."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from sqlite_reasoning_fts.demo import generate
from sqlite_reasoning_fts.demo.corpus import CorpusError, load_corpus
from sqlite_reasoning_fts.errors import FaultError, FileError, NoRoomError, UsageError


def content(path: str | Path) -> list[tuple[Any, ...]]:
    opened = apsw.Connection(str(path))
    rows = opened.execute("SELECT * FROM messages").fetchall()
    rows += opened.execute("SELECT * FROM sessions").fetchall()
    opened.close()
    return rows


def test_a_seed_names_one_archive(tmp_path: Path) -> None:
    first = generate(tmp_path / "1.db", scale=0.003, seed=7)
    second = generate(tmp_path / "2.db", scale=0.003, seed=7)
    other = generate(tmp_path / "3.db", scale=0.003, seed=8)
    assert content(first.path) == content(second.path)
    assert content(first.path) != content(other.path)


# Refusals, and nothing left behind ---------------------------------------------------------


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    path.write_text("mine")
    with pytest.raises(FileError, match="exists") as caught:
        generate(path, scale=0.001)
    assert caught.value.kind == "exists"
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_replaced_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_text("old")
    made = generate(path, scale=0.001, force=True)
    opened = apsw.Connection(str(path))
    rows = opened.execute("SELECT count(*) FROM messages").fetchall()
    opened.close()
    assert rows == [(made.rows,)]


@pytest.mark.parametrize("force", [False, True])
def test_a_name_whose_wal_exists_is_refused(tmp_path: Path, force: bool) -> None:
    beside = tmp_path / "open.db-wal"
    beside.write_bytes(b"")
    with pytest.raises(FileError, match="open") as caught:
        generate(tmp_path / "open.db", scale=0.001, force=force)
    assert caught.value.kind == "in_use"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="folder") as caught:
        generate(tmp_path, scale=0.001, force=True)
    assert caught.value.kind == "directory"


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist") as caught:
        generate(tmp_path / "none" / "a.db", scale=0.001)
    assert caught.value.kind == "not_found"


@pytest.mark.parametrize("scale", [0.0, -1.0, 100.0, float("nan")])
def test_a_scale_out_of_bounds_is_refused(tmp_path: Path, scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        generate(tmp_path / "a.db", scale=scale)


def test_a_disk_without_room_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 1000))
    with pytest.raises(NoRoomError, match="MB free"):
        generate(tmp_path / "a.db", scale=0.001)
    assert list(tmp_path.iterdir()) == []


def test_a_python_without_source_text_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(FaultError, match="sentences"):
        generate(tmp_path / "a.db", scale=0.001)


STAGES = [
    "writing messages",
    "filling messages_fts",
    "filling messages_fts_trigram",
    "messages_fts is merged",
    "messages_fts_trigram is merged",
]


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, stage: str) -> None:
    def stop(done: int, total: int, what: str) -> None:
        if what == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "a.db", scale=0.003, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_progress_callback_comes_through(tmp_path: Path) -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise BrokenPipeError("nobody reads this")

    with pytest.raises(BrokenPipeError):
        generate(tmp_path / "a.db", scale=0.003, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_signal_ends_the_longest_statement(tmp_path: Path) -> None:
    # The process interrupts itself inside the one statement that fills the trigram index.
    program = (
        "import os, signal, sys\n"
        "from sqlite_reasoning_fts.demo import generate\n"
        "def report(done, total, what):\n"
        "    if what == 'filling messages_fts_trigram':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "generate(sys.argv[1], scale=0.01, progress=report)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_progress_rises_from_nothing_to_all(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    generate(tmp_path / "a.db", scale=0.005, progress=lambda *call: seen.append(call))
    done = [at for at, _, _ in seen]
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == seen[-1][1]
    assert len({total for _, total, _ in seen}) == 1


def test_a_library_without_source_text_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="sentences"):
        load_corpus(tmp_path)
