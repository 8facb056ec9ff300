"""Peers that keep the reasoning in an SQLite file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..measured import MMAP_BYTES, Measured
from ..texts import Message
from .base import LIMIT, Peer, file_bytes, needle


class DatabasePeer(Peer):
    """A file with one table or more, filled by ``fill`` and asked by ``sql`` for rowids."""

    ascii_only = True
    sql = ""
    """Takes the needle once for each ``?`` as ``value`` makes it; without LIMIT."""

    def __init__(self, measured: Measured, folder: Path) -> None:
        self.texts = measured.texts
        self.path = folder / f"{self.name.replace(' ', '-')}.db"
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute("PRAGMA journal_mode = off").fetchall()
        self.connection.execute("BEGIN")
        self.fill(self.texts.messages)
        self.connection.execute("COMMIT")
        self.connection.execute(f"PRAGMA mmap_size = {MMAP_BYTES}").fetchall()
        self.bytes = self.stored()

    def fill(self, messages: Sequence[Message]) -> None:
        raise NotImplementedError

    def stored(self) -> int:
        """The bytes that this way to search adds."""
        return file_bytes(self.path)

    def value(self, text: str) -> str:
        """How a needle is bound; words hold none of LIKE's wildcards."""
        return f"%{text}%"

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        cut = "" if limit is None else f" LIMIT {limit}"
        value = self.value(needle(item))
        rows = self.connection.execute(self.sql + cut, (value,) * self.sql.count("?"))
        return [row[0] for row in rows]

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        found = self.texts.containing(needle(item), ascii_only=self.ascii_only)
        return [message.rowid for message in found]

    def pages(self, name: str) -> int:
        """The bytes of one table or index."""
        sql = "SELECT total(pgsize) FROM dbstat WHERE aggregate = TRUE AND name = ?"
        return int(self.connection.execute(sql, (name,)).fetchall()[0][0])

    def close(self) -> None:
        self.connection.close()
