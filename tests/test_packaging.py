"""The package as users get it: an sdist that builds, and one wheel for all Pythons."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = (
    "csrc", "docs", "sqlite_reasoning_fts", "pyproject.toml", "setup.py", "MANIFEST.in",
    "README.md", "CHANGELOG.md", "LICENSE", "Makefile",
)  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, which is built from a copy of the sources and nothing else."""
    folder = tmp_path_factory.mktemp("packaging")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            built = shutil.ignore_patterns("*.so", "__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=built)
        else:
            shutil.copyfile(ROOT / name, source / name)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return next((folder / "dist").glob("*.whl"))


def test_the_wheel_belongs_to_a_platform_and_to_no_python_version(wheel: Path) -> None:
    name, _, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("sqlite_reasoning_fts", "py3", "none")
    assert platform != "any"


def test_the_wheel_has_the_library_and_what_the_demo_needs_and_no_sources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(n.startswith("sqlite_reasoning_fts/reasoning_fts.") for n in names)
    assert "sqlite_reasoning_fts/demo/hermes_0_19.sql" in names
    assert "sqlite_reasoning_fts/py.typed" in names
    assert not [n for n in names if n.endswith((".c", ".h"))]


def test_an_installed_wheel_runs_away_from_the_sources(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    bin_folder = tmp_path / "venv" / "bin"
    subprocess.run(
        [bin_folder / "python", "-m", "pip", "install", "--quiet", wheel],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    command = bin_folder / "reasoning-fts"
    subprocess.run(
        [command, "demo", "--scale", "0.001", "--out", "d.db", "--quiet"], check=True, cwd=tmp_path
    )
    done = subprocess.run(
        [command, "compare", "d.db", "--repeat", "1", "--quiet"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "agrees with FTS5" in done.stdout
