"""``scan``: nothing stored; the rows are read with FTS5's query semantics."""

from __future__ import annotations

from dataclasses import dataclass

from ..query import Query
from ..reader import Reader
from .base import Matches


@dataclass(frozen=True)
class Scan:
    """Reads every row through the library's ``reasoning_scan``."""

    reader: Reader
    name: str = "scan"

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        rank = "rank" if ranked else "NULL AS rank"
        return Matches(
            f"SELECT rowid, {rank}, origin FROM reasoning_scan(?, ?, ?, ?, ?)",
            (
                query.fts5,
                self.reader.source,
                self.reader.spec(scope),
                self.reader.thought_number,
                self.reader.stored(scope),
            ),
            route="scan of the rows",
        )
