"""Whether the agent's default search stays the same once the thought is a column of its index.

The search before is plain MATCH and ``bm25`` on the index as it is today. After it, three ways of
asking the wider index are tried: as the agent asks today, with a column filter, and with
``reasoning_bm25`` besides. FTS5 ranks by the length of the whole row, so the filter alone brings
back the rows and not their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..designs import IndexTable
from ..errors import QueryError
from ..progress import Progress
from ..query import column_filter
from ..reader import Reader
from ..results import DefaultSearch, Key
from ..selection import RANK
from .workload import WorkloadQuery

TOP = 10
Ranked = tuple[tuple[Key, float], ...]


@dataclass(frozen=True)
class Ranker:
    """A way to ask an index: its name in the report, the rank's SQL, and the query's form."""

    name: str
    rank: str
    before_query: str
    after_query: str = ""


def default_search(
    reader: Reader,
    before: IndexTable,
    after: IndexTable,
    workload: Sequence[WorkloadQuery],
    progress: Progress | None,
) -> tuple[DefaultSearch, ...]:
    """Compares each ranker on the wider index with the search as it is today."""
    said = reader.projection.said_names
    narrowed = f"{column_filter(said)}("
    plain = Ranker("bm25", "rank", "")
    rankers = (
        plain,
        Ranker("bm25, column filter", "rank", narrowed, ")"),
        Ranker(
            "reasoning_bm25",
            f"reasoning_bm25({after.name}, '{after.numbers(said)}')",
            narrowed,
            ")",
        ),
    )
    same = {ranker.name: [True, True, True] for ranker in rankers}
    changed: dict[str, list[str]] = {ranker.name: [] for ranker in rankers}
    for done, item in enumerate(workload):
        if progress:
            progress(done, len(workload), "comparing the default search")
        if item.query.restricted(said) is None or not item.query.has_stable_ranks:
            continue
        try:
            today = _ask(reader, before, plain, item.query.fts5)
        except QueryError:
            continue  # it names the thought, which the agent's search of today does not know
        for ranker in rankers:
            then = _ask(reader, after, ranker, item.query.fts5)
            flags = same[ranker.name]
            flags[0] &= {key for key, _ in today} == {key for key, _ in then}
            flags[1] &= [key for key, _ in today] == [key for key, _ in then]
            flags[2] &= dict(today) == dict(then)
            if [key for key, _ in today[:TOP]] != [key for key, _ in then[:TOP]]:
                changed[ranker.name].append(item.text)
    return tuple(
        DefaultSearch("column", name, rows, order, ranks, tuple(changed[name]))
        for name, (rows, order, ranks) in same.items()
    )


def _ask(reader: Reader, table: IndexTable, ranker: Ranker, text: str) -> Ranked:
    query = f"{ranker.before_query}{text}{ranker.after_query}"
    sql = (
        f"WITH o AS MATERIALIZED (SELECT rowid, {ranker.rank} AS rank FROM {table.sql} "
        f"WHERE {table.name} MATCH ?) "
        f"SELECT rowid, {RANK.format(rank='rank')} FROM o ORDER BY 2, 1"
    )
    return tuple(reader.database.all(sql, (query,)))
