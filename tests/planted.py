"""Designs with a fault in their answers, which every check has to find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlite_reasoning_fts.designs import NAMES, Design, Matches
from sqlite_reasoning_fts.designs.base import MatchesInParts

EXACT = tuple(name for name in NAMES if name != "like")
"""The designs that answer as FTS5 does."""

FAULTS = {
    "a row is lost": "SELECT * FROM ({sql}) ORDER BY rowid LIMIT -1 OFFSET 1",
    "a row is too many": "SELECT * FROM ({sql}) UNION ALL "
    "SELECT (SELECT max(rowid) FROM temp.reasoning_projection), -9.0, 'said'",
    "a rank is off": "SELECT rowid, rank * 1.00000002 AS rank, origin FROM ({sql})",
}


@dataclass(frozen=True)
class Wrong:
    """A design that makes one fault in every answer."""

    right: Design
    fault: str

    @property
    def name(self) -> str:
        return self.right.name

    def matches(self, query: Any, scope: str, *, ranked: bool) -> Matches:
        found = self.right.matches(query, scope, ranked=ranked)
        if isinstance(found, MatchesInParts):
            return replace(found, found=lambda: map(self._changed, found.parts()))
        return self._changed(found)

    def _changed(self, part: Matches) -> Matches:
        return replace(part, sql=FAULTS[self.fault].format(sql=part.sql))
