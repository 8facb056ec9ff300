"""One answer from two sides: what was said from the one, what was thought from the other.

A leaf of the query (a phrase or a NEAR group) lies within one column, so its rows are the union of
its rows on either side, its hits their sum. The tree is then evaluated over sets of rows, and the
library's ``bm25`` ranks them from the summed hits, lengths and document frequencies.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from .. import native
from ..database import Database, Row
from ..query import Node, Query, leaf_query, phrase_query
from ..reader import Reader
from .base import LISTED, IndexTable, Matches

Counted = tuple[int, int, tuple[int, ...]]
"""A row that matches a leaf: its rowid, the tokens that it has on this side, and the hits of each
phrase; both counts are 0 where no rank was asked for."""


class Side(Protocol):
    """One of the two sides: the columns that it answers for, and the bit of its origin."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def origin(self) -> int:
        """1 said, 2 thought, to be added up."""
        ...

    @property
    def route(self) -> str: ...

    def counted(self, query: Query, leaf: Node, *, ranked: bool) -> Iterable[Counted]:
        """The rows that match one leaf in the side's columns."""
        ...

    def rows(self, query: Query, leaf: Node, phrase: Node) -> Iterable[int]:
        """The rows that hold one phrase of a leaf, wherever its neighbours are."""
        ...

    def lengths(self, rows: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Rowid and tokens of those of some rows that have any text on this side."""
        ...

    def total_tokens(self) -> int:
        """The tokens in the side's columns over all rows."""
        ...


@dataclass(frozen=True)
class IndexSide:
    """A side that an FTS5 table with positions answers for."""

    database: Database
    index: IndexTable
    columns: tuple[str, ...]
    origin: int

    @property
    def route(self) -> str:
        return "the agent's own index" if self.origin == 1 else "the index of the thought"

    @property
    def _numbers(self) -> str:
        return self.index.numbers(self.columns)

    def counted(self, query: Query, leaf: Node, *, ranked: bool) -> Iterator[Counted]:
        text = leaf_query(leaf, query.columns, self.columns)
        if text is None:
            return
        if not ranked:
            yield from ((rowid, 0, ()) for rowid in self._rowids(text))
            return
        table = self.index.name
        yield from unpacked(
            self.database.all(
                f"SELECT rowid, reasoning_counts({table}, '{self._numbers}') "
                f"FROM {self.index.sql} WHERE {table} MATCH ?",
                (text,),
            )
        )

    def rows(self, query: Query, leaf: Node, phrase: Node) -> Iterator[int]:
        text = phrase_query(leaf, phrase, query.columns, self.columns)
        if text is not None:
            yield from self._rowids(text)

    def lengths(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        table = self.index.name
        counted = self.database.all(
            f"SELECT t.rowid, reasoning_counts({table}, '{self._numbers}') FROM json_each(?) "
            f"AS wanted CROSS JOIN {self.index.sql} AS t ON t.rowid = wanted.value",
            (json.dumps(rows),),
        )
        return ((rowid, tokens) for rowid, tokens, _ in unpacked(counted))

    def _rowids(self, text: str) -> Iterator[int]:
        sql = f"SELECT rowid FROM {self.index.sql} WHERE {self.index.name} MATCH ?"
        return (rowid for (rowid,) in self.database.all(sql, (text,)))

    def total_tokens(self) -> int:
        table = self.index.name
        sql = f"SELECT reasoning_tokens({table}, '{self._numbers}') FROM {self.index.sql} LIMIT 1"
        return int(self.database.value(sql) or 0)


def unpacked(rows: Iterable[Row]) -> Iterator[Counted]:
    """Rowids with the tokens and hits that ``reasoning_counts`` packs, alike for all rows of a
    query; a row that has NULL instead has no text, and is left out."""
    layout = struct.Struct("")
    for rowid, blob in rows:
        if blob is None:
            continue
        if len(blob) != layout.size:
            layout = struct.Struct(f"<{len(blob) // 4}i")
        tokens, *hits = layout.unpack(blob)
        yield rowid, tokens, tuple(hits)


@dataclass(frozen=True)
class LeafHits:
    """Where one leaf matches: its rows' hits, phrase by phrase, and their origin."""

    phrases: tuple[int, ...]
    frequencies: dict[int, tuple[int, ...]]
    origins: dict[int, int]


def combine(reader: Reader, query: Query, sides: Sequence[Side], *, ranked: bool) -> Matches:
    """The rows that match on either side or on both together."""
    lengths: dict[tuple[int, int], int] = {}
    leaves = {
        id(leaf): _leaf_hits(query, leaf, sides, lengths, ranked=ranked) for leaf in query.leaves()
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
        route=f"{' and '.join(side.route for side in sides)}, leaf by leaf",
    )


def _leaf_hits(
    query: Query,
    leaf: Node,
    sides: Sequence[Side],
    lengths: dict[tuple[int, int], int],
    *,
    ranked: bool,
) -> LeafHits:
    """Asks both sides for one leaf; notes the lengths that come with the hits."""
    frequencies: dict[int, tuple[int, ...]] = {}
    origins: dict[int, int] = {}
    for side in sides:
        for rowid, tokens, hits in side.counted(query, leaf, ranked=ranked):
            lengths[side.origin, rowid] = tokens
            before = frequencies.get(rowid)
            frequencies[rowid] = (
                hits if before is None else tuple(a + b for a, b in zip(before, hits, strict=True))
            )
            origins[rowid] = origins.get(rowid, 0) | side.origin
    phrases = tuple(phrase["index"] for phrase in leaf["phrases"])
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
    sides: Sequence[Side],
    leaves: dict[int, LeafHits],
    lengths: dict[tuple[int, int], int],
    rows: list[int],
    found: dict[int, tuple[int, ...]],
) -> list[float]:
    """bm25 over both sides, as a table that holds all columns would give it."""
    count = reader.row_count()
    document_frequencies: dict[int, int] = {}
    for leaf in query.leaves():
        hits = leaves[id(leaf)]
        for phrase in leaf["phrases"]:
            document_frequencies[phrase["index"]] = (
                len(hits.frequencies)
                if len(leaf["phrases"]) == 1
                else len({row for side in sides for row in side.rows(query, leaf, phrase)})
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
        _add_lengths(side, rows, lengths)
        tokens = [n + lengths[side.origin, row] for n, row in zip(tokens, rows, strict=True)]
    total = sum(side.total_tokens() for side in sides)
    return native.bm25(
        count,
        total / count,
        [document_frequencies[number] for number in numbers],
        frequencies,
        [float(n) for n in tokens],
    )


def _add_lengths(side: Side, rows: list[int], lengths: dict[tuple[int, int], int]) -> None:
    """The lengths of rows that matched on the other side alone; absent rows are empty."""
    missing = [row for row in rows if (side.origin, row) not in lengths]
    if missing:
        lengths.update(((side.origin, row), 0) for row in missing)
        lengths.update(((side.origin, row), tokens) for row, tokens in side.lengths(missing))
