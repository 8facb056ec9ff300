"""The search for needles is the same with every instruction set, and stays within the text."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import drivers
import pytest
from conftest import require


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("needle")
    source = Path(__file__).parent / "c" / "needle.c"
    program = folder / "needle"
    try:
        tools = drivers.toolchain(folder, sanitize=True)
    except drivers.CannotBuild as error:
        require(str(error))
    objects = [
        tools.compile(path, folder, "-O2")
        for path in (source, drivers.ROOT / "csrc" / "pure" / "needle.c")
    ]
    tools.run(*tools.flags, *objects, "-o", program)
    done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_search_finds_the_first_place(searched: str) -> None:
    assert "scalar" in searched
    assert searched.strip().endswith(" searches, 0 wrong")


def test_the_instruction_sets_of_this_processor_were_tried(searched: str) -> None:
    if platform.machine() in ("x86_64", "AMD64"):
        assert "sse2" in searched
    elif platform.machine() in ("aarch64", "arm64"):
        assert "neon" in searched
    else:
        require(f"there is no other search than the plain one for {platform.machine()}")
