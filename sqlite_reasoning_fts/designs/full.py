"""``full``: an FTS5 table of our own over the thought alone, with positions.

What was said comes from the agent's own index where there is one, else from a scan. The scope
``all`` joins the two leaf by leaf: a phrase never spans columns, so the rows of a leaf are those of
either index, and AND, OR and NOT work on sets of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..projection import THOUGHT
from ..query import Query
from ..reader import Reader
from .base import NOTHING, IndexTable, Matches
from .combine import combine
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
            return self._from_index(query, self.thought, "thought", (THOUGHT,), ranked)
        if self.said is None:
            return Scan(self.reader).matches(query, scope, ranked=ranked)
        if scope == "said":
            columns = self.reader.projection.said_names
            return self._from_index(query, self.said, "said", columns, ranked)
        return combine(self.reader, query, self.said, self.thought, ranked=ranked)

    def _from_index(
        self, query: Query, index: IndexTable, origin: str, columns: tuple[str, ...], ranked: bool
    ) -> Matches:
        """One index answers; the rows that it leaves out count as empty ones in the rank."""
        route = "index of the thought" if origin == "thought" else "the agent's own index"
        text = query.restricted(columns)
        if text is None:
            return Matches(NOTHING, route=route)
        rank = "NULL"
        parameters: tuple[object, ...] = (text,)
        if ranked:
            rank = f"reasoning_bm25_rows({index.name}, '{index.numbers(columns)}', ?)"
            parameters = (self.reader.row_count(), text)
        return Matches(
            f"SELECT rowid, {rank} AS rank, '{origin}' AS origin "
            f"FROM {index.sql} WHERE {index.name} MATCH ?",
            parameters,
            route=route,
        )
