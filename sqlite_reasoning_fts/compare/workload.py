"""The queries that a comparison asks: chosen from the archive's own vocabulary, or given.

Rare terms stand in 1 to 20 rows, common ones in more than a tenth of the rows with thought.
Phrases and NEAR groups are taken from the text as it stands, so that they match somewhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..database import Database
from ..errors import QueryError
from ..query import Query, quoted
from ..reader import Reader
from ..sampling import SAMPLED_ROWS, query_lines, sampled_thoughts, some, tokens_of
from .building import VOCABULARY

KINDS = ("rare", "common", "absent", "phrase", "and", "or", "not", "prefix", "near")
PER_KIND = 5
RARE_ROWS = 20
COMMON_SHARE = 0.1
PREFIX_CHARACTERS = 4


@dataclass(frozen=True)
class WorkloadQuery:
    """A query in FTS5's grammar with its kind."""

    kind: str
    text: str
    query: Query


@dataclass(frozen=True)
class Vocabulary:
    """The terms of the thought with the number of rows that each stands in."""

    rows: dict[str, int]
    rows_with_thought: int

    def kind(self, term: str) -> str:
        """``absent``, ``rare``, ``common``, or ``medium`` for what lies between."""
        rows = self.rows.get(term, 0)
        if not rows:
            return "absent"
        # A term in most rows of a small archive is common, however few they are.
        if rows > max(1, COMMON_SHARE * self.rows_with_thought):
            return "common"
        return "rare" if rows <= RARE_ROWS else "medium"


def vocabulary(database: Database, rows_with_thought: int) -> Vocabulary:
    """Reads the terms from the oracle's index."""
    rows: dict[str, int] = dict(database.all(f"SELECT term, doc FROM main.{VOCABULARY}"))
    return Vocabulary(rows, rows_with_thought)


def choose(reader: Reader, words: Vocabulary, seed: int) -> list[WorkloadQuery]:
    """Five queries a kind, or as many as the archive has; the same for the same seed."""
    random_ = random.Random(seed)
    by_kind: dict[str, list[str]] = {"rare": [], "common": [], "medium": []}
    for term in sorted(words.rows):
        by_kind[words.kind(term)].append(term)
    readable = [term for term in by_kind["rare"] if len(term) > 3 and not term.isdigit()]
    rare = some(random_, readable or by_kind["rare"], PER_KIND)
    common = some(random_, by_kind["common"], PER_KIND)
    medium = some(random_, by_kind["medium"] or by_kind["common"], 2 * PER_KIND) or rare
    pairs = _pairs(reader, random_)
    texts: dict[str, Iterable[str]] = {
        "rare": map(quoted, rare),
        "common": map(quoted, common),
        "absent": [f'"{_absent(random_, words)}"' for _ in range(PER_KIND)],
        "phrase": [f'"{a} {b}"' for a, b in _spread(pairs, words, 1)],
        "and": [f"{quoted(a)} AND {quoted(b)}" for a, b in _mixed(random_, common, medium)],
        "or": [f"{quoted(a)} OR {quoted(b)}" for a, b in _mixed(random_, medium, rare)],
        "not": [f"{quoted(a)} NOT {quoted(b)}" for a, b in _mixed(random_, medium, common)],
        "prefix": [
            f"{quoted(term[:PREFIX_CHARACTERS])} *"
            for term in some(
                random_, [t for t in medium + rare if len(t) > PREFIX_CHARACTERS], PER_KIND
            )
        ],
        "near": [f"NEAR({quoted(a)} {quoted(b)}, 10)" for a, b in _spread(pairs, words, 5)],
    }
    return [
        WorkloadQuery(kind, text, reader.parse(text, "fts5"))
        for kind in KINDS
        for text in dict.fromkeys(texts[kind])
    ]


def given(reader: Reader, words: Vocabulary, lines: Sequence[str]) -> list[WorkloadQuery]:
    """A user's queries, one a line in FTS5's grammar; blank lines and ``#`` lines are none."""
    chosen = []
    for number, text in query_lines(lines):
        try:
            query = reader.parse(text, "fts5")
        except QueryError as error:
            raise QueryError(f"query {number} ({text}): {error.message}", error.hint) from None
        chosen.append(WorkloadQuery(kind_of(query, words), text, query))
    return chosen


def by_turns(workload: Sequence[WorkloadQuery]) -> list[WorkloadQuery]:
    """The first query of each kind, then the second of each: no kind is left out by a cut."""
    by_kind = [[item for item in workload if item.kind == kind] for kind in KINDS]
    longest = max(map(len, by_kind), default=0)
    return [items[i] for i in range(longest) for items in by_kind if i < len(items)]


def kind_of(query: Query, words: Vocabulary) -> str:
    """The kind of a query: its operator, or how often its one term stands in the thought."""
    tree = query.tree
    if tree["op"] in ("and", "or", "not"):
        return str(tree["op"])
    if tree["op"] == "nothing":
        return "absent"
    if len(tree["phrases"]) > 1:
        return "near"
    phrase: dict[str, Any] = tree["phrases"][0]
    if phrase["prefix"]:
        return "prefix"
    if len(phrase["tokens"]) > 1:
        return "phrase"
    kind = words.kind(phrase["tokens"][0][0])
    return "common" if kind == "medium" else kind


def _pairs(reader: Reader, random_: random.Random) -> list[list[str]]:
    sample = sampled_thoughts(reader, random_, SAMPLED_ROWS)
    return [words for words in tokens_of(sample, reader.options).values() if len(words) > 6]


def _spread(texts: list[list[str]], words: Vocabulary, distance: int) -> list[tuple[str, str]]:
    """Word pairs that stand ``distance`` words apart, from the rarest to the most frequent."""
    pairs = {
        (text[i], text[i + distance])
        for text in texts
        for i in range(len(text) // 3, len(text) - distance, max(1, len(text) // 5))
        if text[i] != text[i + distance]
    }
    ordered = sorted(
        pairs, key=lambda p: (min(words.rows.get(p[0], 0), words.rows.get(p[1], 0)), p)
    )
    if len(ordered) <= PER_KIND:
        return ordered
    return [ordered[i * (len(ordered) - 1) // (PER_KIND - 1)] for i in range(PER_KIND)]


def _mixed(random_: random.Random, left: list[str], right: list[str]) -> list[tuple[str, str]]:
    """Pairs of different terms, one from each list."""
    pairs = [(a, b) for a in left for b in right if a != b]
    return some(random_, pairs, PER_KIND)


def _absent(random_: random.Random, words: Vocabulary) -> str:
    while True:
        term = "".join(random_.choice("bcdfghjklmnpqrstvwxz") for _ in range(10))
        if term not in words.rows:
            return term
