"""``full``: an FTS5 table of our own over the thought alone, with positions.

What was said comes from the agent's own index where there is one, else from a scan. The scope
``all`` joins the two leaf by leaf (``combine.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..projection import THOUGHT
from ..query import Query
from ..reader import Reader
from .base import IndexTable, Matches
from .combine import IndexSide, combine
from .own_index import from_index, from_said
from .scan import Scan


@dataclass(frozen=True)
class Full:
    """Asks the index over the thought, and the agent's own for what was said."""

    reader: Reader
    thought: IndexTable
    said: IndexTable | None
    name: str = "full"

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        if scope == "thought":
            return from_index(self.reader, query, self.thought, "thought", ranked=ranked)
        if scope == "said":
            return from_said(self.reader, query, self.said, ranked=ranked)
        if self.said is None:
            return Scan(self.reader).matches(query, scope, ranked=ranked)
        database = self.reader.database
        said = IndexSide(database, self.said, self.reader.projection.said_names, 1)
        return combine(
            self.reader, query, (said, IndexSide(database, self.thought, (THOUGHT,), 2)),
            ranked=ranked,
        )  # fmt: skip
