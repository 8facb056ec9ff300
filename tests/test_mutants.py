"""The patches that take a guard away: each applies, and names tests that exist."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from conftest import require

ROOT = Path(__file__).parent.parent
PATCHES = sorted((ROOT / "tests" / "mutants").glob("*.patch"))

sys.path.insert(0, str(ROOT / "tests" / "mutants"))
from run import Mutant  # noqa: E402


def test_there_are_patches() -> None:
    assert PATCHES


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_patch_applies(path: Path) -> None:
    if shutil.which("patch") is None:
        require("patch is not installed")
    Mutant.read(path).patch(ROOT, "--dry-run")


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_a_patch_names_tests_that_exist(path: Path) -> None:
    for name in Mutant.read(path).tests:
        file, _, function = name.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {function.partition('[')[0]}\(", text, re.MULTILINE), name
