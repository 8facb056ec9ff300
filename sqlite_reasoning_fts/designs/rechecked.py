"""``terms`` and ``blocks``: an index without positions over the thought, and an exact recheck.

The index gives candidates for the relaxed query (``relax.py``, ``candidates.py``), which are
compared with the query on their text (``recheck.py``). Newest first, that ends when there are rows
enough. For ranks the lengths and hits of the rows that match are counted on their text too; how
many rows hold a single token, and how many tokens there are, the index knows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from .. import native
from ..query import Node, Query
from ..reader import Reader
from .base import LISTED, NOTHING, IndexTable, Matches, MatchesInParts
from .candidates import ThoughtIndex
from .combine import IndexSide, combine
from .own_index import from_said
from .recheck import COLUMNS, Recheck, RecheckSide
from .relax import Relaxed
from .scan import Scan


@dataclass(frozen=True)
class Rechecked:
    """Asks an index without positions, and the agent's own for what was said."""

    reader: Reader
    thought: ThoughtIndex
    said: IndexTable | None
    name: str

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        if scope == "thought":
            return self._thought(query, ranked=ranked)
        if scope == "said":
            return from_said(self.reader, query, self.said, ranked=ranked)
        if self.said is None:
            return Scan(self.reader).matches(query, scope, ranked=ranked)
        said = IndexSide(self.reader.database, self.said, self.reader.projection.said_names, 1)
        side = RecheckSide(self._recheck, self._route)
        return combine(self.reader, query, (said, side), ranked=ranked)

    @cached_property
    def _recheck(self) -> Recheck:
        return Recheck(self.reader, self.thought)

    @property
    def _route(self) -> str:
        return f"{self.name} of the thought, rechecked on the text"

    def _thought(self, query: Query, *, ranked: bool) -> Matches:
        recheck = self._recheck
        text = query.restricted(COLUMNS)
        relaxed = recheck.relaxed(query)
        if text is None or relaxed is None:
            return Matches(NOTHING, route=self._route)
        if ranked:
            return self._ranked(recheck.understood(text))
        route = f"{self.name} of the thought" if relaxed.exact else self._route
        return MatchesInParts("", route=route, found=lambda: recheck.newest(text, relaxed, route))

    def _ranked(self, query: Query) -> Matches:
        """All rows with the rank that a table with positions would give them."""
        recheck, database = self._recheck, self.reader.database
        relaxed = recheck.relaxed(query) or Relaxed(None, exact=False)
        rows = recheck.rows(query.fts5, relaxed)
        counted = list(recheck.counts(query.fts5, rows))
        ranks: list[float] = []
        if counted:
            count = self.reader.row_count()
            ranks = native.bm25(
                count,
                self.thought.total_tokens(database) / count,
                [
                    self._frequency(query, leaf, phrase, len(rows))
                    for leaf in query.leaves()
                    for phrase in leaf["phrases"]
                ],
                [float(hits) for _, _, row in counted for hits in row],
                [float(tokens) for _, tokens, _ in counted],
            )
        listed = [
            (rowid, rank, "thought") for (rowid, _, _), rank in zip(counted, ranks, strict=True)
        ]
        return Matches(LISTED, (json.dumps(listed),), self._route, len(rows))

    def _frequency(self, query: Query, leaf: Node, phrase: Node, found: int) -> int:
        """In how many rows a phrase stands; of a query that is just this phrase, those found."""
        if query.tree is leaf and len(leaf["phrases"]) == 1:
            return found
        return self._recheck.frequency(query, leaf, phrase)
