"""The C drivers: out of memory, sanitizers, valgrind, and the fuzzers over their corpus."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import drivers
import pytest
from conftest import require

import sqlite_reasoning_fts as rf

TESTS = Path(__file__).parent
CASES = TESTS / "c" / "oom.sql"
WORDS = TESTS / "fuzz" / "words.dict"
RUNS = {"parser": 4000, "matcher": 1000, "tokenizer": 40000}
"""Mutations of the short run; ``make fuzz`` makes more."""

LEAKS = {"ASAN_OPTIONS": "detect_leaks=1"}
VALGRIND = ("--quiet", "--leak-check=full", "--error-exitcode=9", "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite")  # fmt: skip


def built(folder: Path, *, sanitize: bool) -> dict[str, Path]:
    try:
        tools = drivers.toolchain(folder, sanitize=sanitize)
    except drivers.CannotBuild as error:
        require(str(error))
    names = tuple(drivers.DRIVERS) if sanitize else ("oom",)
    return drivers.build(tools, folder, names)


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All drivers, with ASan and UBSan."""
    return built(tmp_path_factory.mktemp("sanitized"), sanitize=True)


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **LEAKS},
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-5000:]}"
    return done.stdout


def test_out_of_memory_every_call_is_right_or_says_so(
    sanitized: dict[str, Path], tmp_path: Path
) -> None:
    listed = run(
        sanitized["oom"], "--library", rf.extension_path(), "--sparse", "13", CASES,
        tmp_path / "oom.db",
    )  # fmt: skip
    cases = CASES.read_text(encoding="utf-8").count("--@ case")
    assert listed.count("rounds") == cases + len(["loading", "loading the file"])


def test_valgrind_sees_no_wrong_access_and_no_leak(tmp_path: Path) -> None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        require("valgrind is not installed")
    programs = built(tmp_path, sanitize=False)
    few = ("--dense", "0", "--sparse", "149")
    assert run(valgrind, *VALGRIND, programs["oom"], *few, CASES, tmp_path / "oom.db")


@pytest.mark.parametrize("name", drivers.FUZZERS)
def test_the_corpus_and_its_mutations_agree_with_fts5(
    sanitized: dict[str, Path], name: str, tmp_path: Path
) -> None:
    corpus = TESTS / "fuzz" / "corpus" / name
    listed = run(
        sanitized[name], "--runs", str(RUNS[name]), "--seed", "1", "--dict", WORDS,
        "--artifact", tmp_path / "input", corpus,
    )  # fmt: skip
    assert listed.split()[0] == str(len(list(corpus.iterdir())))
