"""An answer from one FTS5 table with positions: the agent's own, or ours over the thought."""

from __future__ import annotations

from ..projection import THOUGHT
from ..query import Query
from ..reader import Reader
from .base import NOTHING, IndexTable, Matches
from .scan import Scan


def from_index(
    reader: Reader, query: Query, index: IndexTable, origin: str, *, ranked: bool
) -> Matches:
    """The rows that one index finds; those that it leaves out count as empty ones in the rank."""
    route = "index of the thought" if origin == "thought" else "the agent's own index"
    columns = (THOUGHT,) if origin == "thought" else reader.projection.said_names
    text = query.restricted(columns)
    if text is None:
        return Matches(NOTHING, route=route)
    rank = "NULL"
    parameters: tuple[object, ...] = (text,)
    if ranked:
        rank = f"reasoning_bm25_rows({index.name}, '{index.numbers(columns)}', ?)"
        parameters = (reader.row_count(), text)
    return Matches(
        f"SELECT rowid, {rank} AS rank, '{origin}' AS origin "
        f"FROM {index.sql} WHERE {index.name} MATCH ?",
        parameters,
        route=route,
    )


def from_said(reader: Reader, query: Query, said: IndexTable | None, *, ranked: bool) -> Matches:
    """What was said: from the agent's own index where it has one, else from a scan."""
    if said is None:
        return Scan(reader).matches(query, "said", ranked=ranked)
    return from_index(reader, query, said, "said", ranked=ranked)
