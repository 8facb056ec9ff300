"""One answer from two indexes: what was said from the one, what was thought from the other.

A leaf of the query (a phrase or a NEAR group) lies within one column, so its rows are the union of
its rows in either index, its hits their sum. The tree is then evaluated over sets of rows, and the
library's ``bm25`` ranks them from the summed hits, lengths and document frequencies.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from .. import native
from ..database import Database
from ..projection import THOUGHT
from ..query import Node, Query, leaf_query, phrase_query
from ..reader import Reader
from .base import LISTED, IndexTable, Matches

ROUTE = "the agent's own index and the index of the thought, leaf by leaf"


@dataclass(frozen=True)
class Side:
    """One of the two indexes, with the columns that it answers for."""

    index: IndexTable
    columns: tuple[str, ...]
    origin: int  # 1 said, 2 thought, to be added up

    @property
    def numbers(self) -> str:
        return self.index.numbers(self.columns)


@dataclass(frozen=True)
class LeafHits:
    """Where one leaf matches: its rows' hits, phrase by phrase, and their origin."""

    phrases: tuple[int, ...]
    frequencies: dict[int, tuple[int, ...]]
    origins: dict[int, int]


def combine(
    reader: Reader, query: Query, said: IndexTable, thought: IndexTable, *, ranked: bool
) -> Matches:
    """The rows that match in either index or in both together."""
    sides = (
        Side(said, reader.projection.said_names, 1),
        Side(thought, (THOUGHT,), 2),
    )
    database = reader.database
    lengths: dict[tuple[int, int], int] = {}
    leaves = {
        id(leaf): _leaf_hits(database, query, leaf, sides, lengths) for leaf in query.leaves()
    }
    found = _evaluate(query.tree, leaves)
    rows = sorted(found)
    origins = [_origin(rowid, found[rowid], leaves) for rowid in rows]
    ranks: list[float] | list[None] = [None] * len(rows)
    if ranked and rows:
        ranks = _ranks(reader, query, sides, leaves, lengths, rows, found)
    return Matches(
        LISTED,
        (json.dumps(list(zip(rows, ranks, origins, strict=True))),),
        route=ROUTE,
    )


def _leaf_hits(
    database: Database,
    query: Query,
    leaf: Node,
    sides: Iterable[Side],
    lengths: dict[tuple[int, int], int],
) -> LeafHits:
    """Asks both indexes for one leaf; notes the lengths that come with the hits."""
    phrases = tuple(phrase["index"] for phrase in leaf["phrases"])
    frequencies: dict[int, tuple[int, ...]] = {}
    origins: dict[int, int] = {}
    for side in sides:
        text = leaf_query(leaf, query.columns, side.columns)
        if text is None:
            continue
        table = side.index.name
        rows = database.rows(
            f"SELECT rowid, reasoning_counts({table}, '{side.numbers}') "
            f"FROM {side.index.sql} WHERE {table} MATCH ?",
            (text,),
        )
        for rowid, blob in rows:
            tokens, *hits = struct.unpack(f"<{len(blob) // 4}i", blob)
            lengths[side.origin, rowid] = tokens
            before = frequencies.get(rowid)
            frequencies[rowid] = (
                tuple(hits)
                if before is None
                else tuple(a + b for a, b in zip(before, hits, strict=True))
            )
            origins[rowid] = origins.get(rowid, 0) | side.origin
    return LeafHits(phrases, frequencies, origins)


def _evaluate(node: Node, leaves: dict[int, LeafHits]) -> dict[int, tuple[int, ...]]:
    """The rows of a subtree, each with the leaves whose hits count in it.

    As in FTS5, a leaf below an AND that does not match counts nothing, nor does what follows NOT.
    """
    op = node["op"]
    if op == "nothing":
        return {}
    if op == "near":
        number = id(node)
        return dict.fromkeys(leaves[number].frequencies, (number,))
    results = [_evaluate(child, leaves) for child in node["children"]]
    if op == "not":
        return {row: used for row, used in results[0].items() if row not in results[1]}
    if op == "and":
        smallest = min(results, key=len)
        return {
            row: tuple(leaf for result in results for leaf in result[row])
            for row in smallest
            if all(row in result for result in results)
        }
    either: dict[int, tuple[int, ...]] = {}
    for result in results:
        for row, used in result.items():
            either[row] = either.get(row, ()) + used
    return either


def _origin(row: int, used: tuple[int, ...], leaves: dict[int, LeafHits]) -> str:
    origin = 0
    for leaf in used:
        origin |= leaves[leaf].origins[row]
    return ("", "said", "thought", "both")[origin]


def _ranks(
    reader: Reader,
    query: Query,
    sides: tuple[Side, ...],
    leaves: dict[int, LeafHits],
    lengths: dict[tuple[int, int], int],
    rows: list[int],
    found: dict[int, tuple[int, ...]],
) -> list[float]:
    """bm25 over both indexes, as a table that holds all columns would give it."""
    database = reader.database
    count = reader.row_count()
    document_frequencies: dict[int, int] = {}
    for leaf in query.leaves():
        hits = leaves[id(leaf)]
        for phrase in leaf["phrases"]:
            document_frequencies[phrase["index"]] = (
                len(hits.frequencies)
                if len(leaf["phrases"]) == 1
                else _rows_of_phrase(database, query, leaf, phrase, sides)
            )
    numbers = sorted(document_frequencies)
    place = {number: i for i, number in enumerate(numbers)}
    frequencies = [0.0] * (len(rows) * len(numbers))
    for i, row in enumerate(rows):
        for used in found[row]:
            leaf_hits = leaves[used]
            for number, hits_of_phrase in zip(
                leaf_hits.phrases, leaf_hits.frequencies[row], strict=True
            ):
                frequencies[i * len(numbers) + place[number]] += hits_of_phrase
    tokens = [0] * len(rows)
    for side in sides:
        _fetch_lengths(database, side, rows, lengths)
        tokens = [n + lengths[side.origin, row] for n, row in zip(tokens, rows, strict=True)]
    total = sum(_total_tokens(database, side) for side in sides)
    return native.bm25(
        count,
        total / count,
        [document_frequencies[number] for number in numbers],
        frequencies,
        [float(n) for n in tokens],
    )


def _rows_of_phrase(
    database: Database, query: Query, leaf: Node, phrase: Node, sides: tuple[Side, ...]
) -> int:
    """In how many rows one phrase of a NEAR group stands, wherever its neighbours are."""
    rows: set[int] = set()
    for side in sides:
        text = phrase_query(leaf, phrase, query.columns, side.columns)
        if text is not None:
            table = side.index.name
            sql = f"SELECT rowid FROM {side.index.sql} WHERE {table} MATCH ?"
            rows.update(row[0] for row in database.rows(sql, (text,)))
    return len(rows)


def _fetch_lengths(
    database: Database, side: Side, rows: list[int], lengths: dict[tuple[int, int], int]
) -> None:
    """The lengths of rows that matched in the other index alone; absent rows are empty."""
    missing = [row for row in rows if (side.origin, row) not in lengths]
    if not missing:
        return
    lengths.update(((side.origin, row), 0) for row in missing)
    table = side.index.name
    for rowid, blob in database.rows(
        f"SELECT t.rowid, reasoning_counts({table}, '{side.numbers}') "
        f"FROM json_each(?) AS wanted CROSS JOIN {side.index.sql} AS t ON t.rowid = wanted.value",
        (json.dumps(missing),),
    ):
        lengths[side.origin, rowid] = struct.unpack_from("<i", blob)[0]


def _total_tokens(database: Database, side: Side) -> int:
    """The tokens in the side's columns over all rows."""
    table = side.index.name
    sql = f"SELECT reasoning_tokens({table}, '{side.numbers}') FROM {side.index.sql} LIMIT 1"
    return int(database.value(sql) or 0)
