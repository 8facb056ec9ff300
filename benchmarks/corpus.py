"""The archives that are measured: one of the reference proportions, and others around it.

The reference corpus is as large as asked for. The matrix varies one archive of a fixed number of
characters by the length of its rows and by the share of them that has reasoning, so that its cells
differ in nothing else. A corpus joins by being listed here; what it holds is told by its columns or
found by the package's adapters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from sqlite_reasoning_fts.demo.generate import generate
from sqlite_reasoning_fts.demo.plan import REFERENCE

LENGTHS = {"short": 300, "middle": 1558, "long": 8000}
"""Mean characters of a row's reasoning; those of the reference archive are in the middle."""

SHARES = {"few": 0.05, "some": 0.21, "many": 0.4}
"""Rows with reasoning among all rows."""

REFERENCE_NAME = "reference"
PLAIN_NAME = "plain table"


@dataclass(frozen=True)
class Corpus:
    """An archive that can be made: its name, and what ``rf.open`` needs beside the path."""

    name: str
    make: Callable[[Path, float], None]
    columns: Mapping[str, Any] = field(default_factory=dict)

    def file(self, folder: Path, scale: float) -> Path:
        """The archive of this name and scale, made if it is not there."""
        path = folder / f"{self.name.replace(' ', '-')}-{scale:g}.db"
        if not path.exists():
            partial = path.with_suffix(f".{os.getpid()}.partial")
            self.make(partial, scale)
            partial.rename(path)
        return path


def _demo(share: float | None = None, length: float | None = None) -> Callable[[Path, float], None]:
    def make(path: Path, scale: float) -> None:
        proportions = REFERENCE
        if share is not None and length is not None:
            proportions = REFERENCE.with_shape(share=share, thought_length=length)
        generate(path, scale=scale, proportions=proportions)

    return make


def _plain_table(path: Path, scale: float) -> None:
    """The same messages in a table of another layout, with text keys and no index of its own."""
    source = path.with_suffix(".source")
    generate(source, scale=scale)
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA journal_mode = wal").fetchall()
        connection.execute("ATTACH ? AS demo", (str(source),))
        connection.execute(
            "CREATE TABLE notes(uid TEXT PRIMARY KEY, chat TEXT, author TEXT, sent REAL, "
            "body TEXT, thinking TEXT)"
        )
        connection.execute(
            "INSERT INTO notes SELECT printf('m%08d', id), session_id, role, timestamp, content, "
            "coalesce(reasoning, reasoning_content) FROM demo.messages ORDER BY id"
        )
    finally:
        connection.close()
        source.unlink()


CORPORA = (
    Corpus(REFERENCE_NAME, _demo()),
    *(
        Corpus(f"{length} rows, {share} with reasoning", _demo(SHARES[share], LENGTHS[length]))
        for length in LENGTHS
        for share in SHARES
    ),
    Corpus(
        PLAIN_NAME,
        _plain_table,
        {
            "table": "notes",
            "key": "uid",
            "said": ("body",),
            "thought": ("thinking",),
            "session": "chat",
            "role": "author",
            "time": "sent",
        },
    ),
)
