"""The oracle: real FTS5 tables over the projection with all rows in them, asked plainly.

Each scope has a table that holds its columns and no others, so FTS5's own MATCH and ``bm25`` answer
without any function of ours: the agent's own index as a reindex builds it for ``said``, one over
the thought for ``thought``, one over all columns for ``all``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..database import as_text, quote_name, text_as_blob
from ..designs import IndexTable
from ..progress import Progress
from ..query import SCOPES, Query
from ..reader import Reader
from ..results import Key
from ..selection import RANK
from .workload import WorkloadQuery


@dataclass(frozen=True)
class Answer:
    """Visible rows, best first: their keys, and their ranks rounded to nine digits.

    Those of a whole workload are held at a time, so both are kept as plain numbers where they are.
    """

    keys: Sequence[Key]
    ranks: Sequence[float]

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[Key, float]]:
        return zip(self.keys, self.ranks, strict=True)


def packed(keys: Sequence[Key]) -> Sequence[Key]:
    """Keys in eight bytes each where they are integers."""
    integers = [key for key in keys if isinstance(key, int)]
    return array("q", integers) if len(integers) == len(keys) else tuple(keys)


@dataclass(frozen=True)
class OracleTables:
    """The table of each scope."""

    reader: Reader
    tables: dict[str, IndexTable]

    def answers(self, workload: Sequence[WorkloadQuery], progress: Progress | None) -> Answers:
        """The right answers for a workload, in every scope that the archive has."""
        scopes = tuple(scope for scope in SCOPES if scope in self.tables)
        ranked, newest = {}, {}
        for done, item in enumerate(workload):
            if progress:
                progress(done, len(workload), "asking the oracle")
            for scope in scopes:
                ranked[item.text, scope] = self.ranked(item.query, scope)
                newest[item.text, scope] = self.newest(item.query, scope)
        return Answers(self.reader, tuple(workload), scopes, ranked, newest)

    def ranked(self, query: Query, scope: str) -> Answer:
        """All visible rows that match, with their ranks, in order."""
        text = self._text(query, scope)
        order = f"{RANK.format(rank='o.rank')}, p.key COLLATE BINARY"
        rows = [] if text is None else self._ask(scope, text, order)
        return Answer(packed([key for key, _ in rows]), array("d", [rank for _, rank in rows]))

    def newest(self, query: Query, scope: str) -> Sequence[Key]:
        """The keys of all visible rows that match, newest first."""
        text = self._text(query, scope)
        if text is None:
            return ()
        order = "p.created_at DESC NULLS LAST, p.key COLLATE BINARY DESC"
        return packed([key for key, _ in self._ask(scope, text, order)])

    def _text(self, query: Query, scope: str) -> str | None:
        """The query for the scope's table, which knows no other columns: a filter on one of
        those matches nothing, as the rule for phrases outside the scope says."""
        columns = self.reader.scope_columns(scope)
        if set(columns) == set(query.columns):
            return None if query.is_empty else query.fts5
        return query.restricted(columns)

    def _ask(self, scope: str, text: str, order: str) -> list[tuple[Key, float]]:
        table = self.tables[scope]
        sql = (
            f"WITH o AS MATERIALIZED (SELECT rowid, rank FROM {table.sql} "
            f"WHERE {quote_name(table.name)} MATCH ?) "
            f"SELECT {text_as_blob('p.key')}, {RANK.format(rank='o.rank')} "
            f"FROM o CROSS JOIN {self.reader.source} AS p ON p.rowid = o.rowid "
            f"WHERE p.visible ORDER BY {order}"
        )
        return [(as_text(key), rank) for key, rank in self.reader.database.rows(sql, (text,))]


@dataclass(frozen=True)
class Answers:
    """What the oracle says: for each query and scope, all rows ranked, and the newest first."""

    reader: Reader
    workload: tuple[WorkloadQuery, ...]
    scopes: tuple[str, ...]
    ranked: dict[tuple[str, str], Answer]
    newest: dict[tuple[str, str], Sequence[Key]]
