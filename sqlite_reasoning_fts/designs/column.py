"""``column``: the thought as one more column of the agent's own FTS5 table."""

from __future__ import annotations

from dataclasses import dataclass

from ..projection import THOUGHT
from ..query import Query
from ..reader import Reader
from .base import NOTHING, IndexTable, Matches


@dataclass(frozen=True)
class Column:
    """Asks one index, with the ranks limited to the columns in scope.

    Without ``reasoning_bm25`` the longer rows would change every rank of the default search, and
    without the column filter its matches.
    """

    reader: Reader
    index: IndexTable
    name: str = "column"

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        columns = self.reader.scope_columns(scope)
        text = query.restricted(columns)
        if text is None:
            return Matches(NOTHING, route="index column")
        table = self.index.name
        rank = f"reasoning_bm25({table}, '{self.index.numbers(columns)}')" if ranked else "NULL"
        return Matches(
            f"SELECT rowid, {rank} AS rank, "
            f"reasoning_origin({table}, '{self.index.numbers([THOUGHT])}') AS origin "
            f"FROM {self.index.sql} WHERE {table} MATCH ?",
            (text,),
            route="index column",
        )
