"""The file cache of the operating system: filled, or emptied of a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# In a process of its own: a file handle that is closed here would take the locks of SQLite, which
# belong to the process, with it.
_READ = """
import sys, time
begun = time.perf_counter()
with open(sys.argv[1], 'rb', buffering=0) as file:
    block = bytearray(1 << 20)
    while file.readinto(block):
        pass
print(time.perf_counter() - begun)
"""
_DROP = """
import os, sys
for path in sys.argv[1:]:
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
"""


def warm(path: Path) -> float:
    """Reads a whole file; the seconds that this took."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def resident(*paths: Path) -> int:
    """The bytes of files that are in the cache (Linux; ``fincore`` of util-linux), or -1."""
    command = ["fincore", "--bytes", "--noheadings", "--output", "RES", *map(str, paths)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return -1
    return sum(map(int, done.stdout.split()))


def drop(*paths: Path) -> None:
    """Asks the kernel to forget files. What a process has mapped into memory stays."""
    subprocess.run([sys.executable, "-c", _DROP, *map(str, paths)], check=True)
