"""Kilo: a partial covering index over an expression, scanned with LIKE instead of the wide rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..measured import Measured
from ..texts import Message
from .database_peer import DatabasePeer

TEXT = "json_extract(data, '$.text')"
TYPE = "json_extract(data, '$.type')"
IS_REASONING = f"{TYPE} = 'reasoning'"
INDEX = "recall_part_search"


class Kilo(DatabasePeer):
    name = "Kilo covering index"
    sql = (
        f"SELECT message_id FROM part INDEXED BY {INDEX} WHERE {IS_REASONING} AND {TEXT} LIKE ? "
        "ORDER BY time_created DESC, message_id DESC"
    )

    @staticmethod
    def missing(measured: Measured) -> str | None:
        version = measured.reader.database.sqlite_version
        if tuple(map(int, version.split("."))) < (3, 41):
            return f"SQLite {version} reads no expression out of an index; 3.41 does"
        return None

    def fill(self, messages: Sequence[Message]) -> None:
        self.connection.execute(
            "CREATE TABLE part(id INTEGER PRIMARY KEY, message_id INTEGER, time_created REAL, "
            "data TEXT)"
        )
        self.connection.executemany(
            "INSERT INTO part(message_id, time_created, data) VALUES (?, ?, ?)",
            (
                (m.rowid, m.created_at, json.dumps({"type": "reasoning", "text": m.thought}))
                for m in reversed(messages)
            ),
        )
        self.connection.execute(
            f"CREATE INDEX {INDEX} ON part({TYPE}, time_created, message_id, {TEXT}) "
            f"WHERE {IS_REASONING}"
        )
        plan = self.connection.execute(f"EXPLAIN QUERY PLAN {self.sql}", ("%x%",)).fetchall()
        assert "COVERING" in str(plan), f"the index is read together with its table: {plan}"

    def stored(self) -> int:
        return self.pages(INDEX)
