"""A Python whose own sqlite3 can load extensions, for tests with a second SQLite library.

Many Pythons are built without; the system's usually can. It gets apsw in a folder of its
own, so that nothing is installed into it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import interpreters
import pytest
from conftest import require

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class LoadingPython:
    """An interpreter that has both: sqlite3 with load_extension, and apsw."""

    executable: str
    path: str

    def run(self, code: str) -> Any:
        """Runs the code and returns what it prints, read as JSON."""
        done = subprocess.run(
            [self.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": self.path},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def has_apsw(python: LoadingPython) -> bool:
    done = subprocess.run(
        [python.executable, "-c", "import apsw"],
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": python.path},
        check=False,
    )
    return done.returncode == 0


def find(cache: pytest.Cache) -> LoadingPython:
    executable = interpreters.that_loads()
    if executable is None:
        require(interpreters.MISSING)
    if executable == sys.executable:
        return LoadingPython(executable, str(ROOT))
    folder = str(cache.mkdir("loading-python"))
    python = LoadingPython(executable, os.pathsep.join([str(ROOT), folder]))
    if not has_apsw(python):
        command = [sys.executable, "-m", "pip", "--python", executable, "install", "--quiet"]
        command += ["--only-binary", ":all:", "--target", folder, "--upgrade", "apsw"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0 or not has_apsw(python):
            require(f"apsw cannot be installed for {executable}: {done.stderr.strip()[-300:]}")
    return python
