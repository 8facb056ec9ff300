"""FTS5's own ``trigram`` tokenizer: substrings of three characters and more, folded."""

from __future__ import annotations

from collections.abc import Sequence

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..texts import Message
from .base import needle
from .database_peer import DatabasePeer


class Trigram(DatabasePeer):
    name = "FTS5 trigram"
    ascii_only = False
    sql = (
        "SELECT rowid FROM thoughts WHERE thoughts MATCH ? "
        "ORDER BY (SELECT at FROM times WHERE times.id = thoughts.rowid) DESC, rowid DESC"
    )

    def fill(self, messages: Sequence[Message]) -> None:
        self.connection.execute("CREATE TABLE times(id INTEGER PRIMARY KEY, at REAL)")
        self.connection.execute(
            "CREATE VIRTUAL TABLE thoughts USING fts5(thought, content='', tokenize='trigram')"
        )
        rows = sorted(messages, key=lambda message: message.rowid)
        self.connection.executemany(
            "INSERT INTO times VALUES (?, ?)", ((m.rowid, m.created_at) for m in rows)
        )
        self.connection.executemany(
            "INSERT INTO thoughts(rowid, thought) VALUES (?, ?)",
            ((m.rowid, m.thought) for m in rows),
        )
        self.connection.execute("INSERT INTO thoughts(thoughts) VALUES ('optimize')")

    def stored(self) -> int:
        return sum(self.pages(f"thoughts_{part}") for part in ("data", "idx", "docsize", "config"))

    def understands(self, item: WorkloadQuery) -> bool:
        return len(needle(item)) >= 3

    def value(self, text: str) -> str:
        return '"' + text.replace('"', '""') + '"'
