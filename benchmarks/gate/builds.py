"""Two versions of the library, each built from its own tree in the same way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_COPIED = (".git", ".venv", "build", "dist", ".*_cache", ".hypothesis", "__pycache__", "*.so")
LIBRARY = Path("sqlite_reasoning_fts", "reasoning_fts.so")


class BuildError(Exception):
    """A version that cannot be had or that does not build."""


def of_revision(revision: str, folder: Path) -> Path:
    """The library as it was at a revision of this repository."""
    done = subprocess.run(
        ["git", "archive", "--format=tar", revision], cwd=ROOT, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{revision}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    return _built(folder)


def of_working_tree(folder: Path, patch: Path | None = None) -> Path:
    """The library as it stands here, perhaps with a patch."""
    shutil.copytree(
        ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True, dirs_exist_ok=True
    )
    if patch is not None:
        done = subprocess.run(
            ["patch", "-p1", "--batch", "--forward", "-i", str(patch.resolve())],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise BuildError(f"{patch} does not apply:\n{done.stdout}{done.stderr}")
    return _built(folder)


def _built(folder: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ},
    )  # fmt: skip
    library = folder / LIBRARY
    if done.returncode != 0 or not library.exists():
        raise BuildError(f"{folder} does not build:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return library
