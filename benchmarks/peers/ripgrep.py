"""ripgrep over the text exported to a file, a line a row: the outer limit of what a scan can be.

It has no database to read through, and both processors. Its start as a process is in its time.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..measured import Measured
from .base import LIMIT, Peer, needle


class Ripgrep(Peer):
    name = "ripgrep, exported text"

    def __init__(self, measured: Measured, folder: Path) -> None:
        self._texts = measured.texts
        self._path = folder / "thoughts.txt"
        self._rowids = [message.rowid for message in self._texts.messages]
        with self._path.open("w", encoding="utf-8", newline="\n") as out:
            for message in self._texts.messages:
                # One line a row, as long as before, so that nothing is joined that was apart.
                line = message.thought.translate({10: 1, 13: 1, 0: 1})
                out.write(line + "\n")
        self.bytes = self._path.stat().st_size

    @staticmethod
    def missing(measured: Measured) -> str | None:
        return None if shutil.which("rg") else "ripgrep (rg) is not installed"

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        command = [
            "rg",
            "--no-config",
            "--text",
            "--line-number",
            "--only-matching",
            "--no-filename",
        ]
        if limit is not None:
            command += ["--max-count", str(limit)]
        command += [
            "--ignore-case",
            "--fixed-strings",
            "--no-filename",
            "--",
            needle(item),
            str(self._path),
        ]
        found = subprocess.run(command, capture_output=True, check=False)
        if found.returncode > 1:
            raise RuntimeError(f"rg: {found.stderr.decode()}")
        numbers = dict.fromkeys(
            int(line.partition(b":")[0]) for line in found.stdout.split(b"\n") if line
        )
        return [self._rowids[number - 1] for number in numbers]

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        found = self._texts.containing(needle(item), ascii_only=False)
        return [message.rowid for message in found]
