"""Which Python of this machine has an sqlite3 that loads extensions; the standard library alone."""

from __future__ import annotations

import subprocess
import sys

CANDIDATES = (sys.executable, "/usr/bin/python3")
MISSING = (
    f"no Python of {', '.join(CANDIDATES)} has an sqlite3 that can load extensions; install the"
    " system's own python3"
)
PROBE = """
import sqlite3, sys
ok = hasattr(sqlite3.Connection, "enable_load_extension") and sys.version_info >= (3, 10)
connection = sqlite3.connect(":memory:")
try:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
except sqlite3.Error:
    ok = False
sys.exit(0 if ok and sqlite3.sqlite_version_info >= (3, 38) else 1)
"""


def can_load(executable: str) -> bool:
    try:
        done = subprocess.run([executable, "-c", PROBE], capture_output=True, timeout=60)
    except OSError:
        return False
    return done.returncode == 0


def that_loads() -> str | None:
    """The first such Python."""
    return next(filter(can_load, CANDIDATES), None)
