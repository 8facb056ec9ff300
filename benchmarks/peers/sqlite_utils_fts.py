"""``sqlite-utils enable-fts``: an external-content FTS5 table, as that tool makes it."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlite_reasoning_fts.compare.workload import KINDS, WorkloadQuery

from ..measured import Measured
from .base import LIMIT, Peer


class SqliteUtils(Peer):
    name = "sqlite-utils enable-fts"
    kinds = frozenset(KINDS)

    def __init__(self, measured: Measured, folder: Path) -> None:
        import sqlite_utils

        self._measured = measured
        self._database = sqlite_utils.Database(sqlite3.connect(folder / "sqlite-utils.db"))
        messages = self._database["messages"]
        rows = sorted(measured.texts.messages, key=lambda message: message.rowid)
        messages.insert_all(
            ({"id": m.rowid, "at": m.created_at, "thought": m.thought} for m in rows), pk="id"
        )
        messages.enable_fts(["thought"], fts_version="FTS5")
        messages.optimize()
        names = [f"messages_fts_{part}" for part in ("data", "idx", "docsize", "config")]
        self.bytes = self._stored(names)

    def _stored(self, names: Sequence[str]) -> int:
        """dbstat is a compile-time option, so the blobs are added up: a little less than pages."""
        total = 0
        for name in names:
            columns = [row[1] for row in self._database.execute(f"PRAGMA table_info({name})")]
            lengths = " + ".join(f"coalesce(length({column}), 0)" for column in columns)
            total += self._database.execute(f"SELECT total({lengths}) FROM {name}").fetchone()[0]
        return int(total)

    @staticmethod
    def missing(measured: Measured) -> str | None:
        found = importlib.util.find_spec("sqlite_utils")
        return None if found else "sqlite-utils is not installed"

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        rows = self._database["messages"].search(
            item.query.restricted(("thought",)) or "",
            order_by="at desc, id desc",
            limit=limit,
            columns=["id", "at"],
        )
        return [row["id"] for row in rows]

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        return self._measured.rowids(self._measured.answers.newest[item.text, "thought"])

    def close(self) -> None:
        self._database.close()
