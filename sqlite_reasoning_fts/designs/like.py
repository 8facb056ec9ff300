"""``like``: the flag as agents do it or propose it today, for comparison only.

LIKE folds ASCII alone, knows neither words nor phrases and stops at a NUL, so its answers differ
from those of an index. Terms are joined by AND, OR and NOT as in the proposals: OR splits groups,
within a group every term must be found, NOT negates the one that follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..adapters.base import escape_like
from ..query import Query
from ..reader import Reader
from .base import Matches

OPERATORS = frozenset(("AND", "OR", "NOT"))


@dataclass(frozen=True)
class Like:
    """Reads every row with LIKE, unranked."""

    reader: Reader
    name: str = "like"

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        peer = self.reader.adapter.like
        conditions = {"said": peer.said, "thought": peer.thought}
        one = conditions.get(scope) or f"({peer.said}) OR ({peer.thought})"
        groups: list[str] = []
        parameters: list[str] = []
        for group in term_groups(query.fts5):
            parts = []
            for term, negated in group:
                parts.append(f"{'NOT ' if negated else ''}({one})")
                parameters += [f"%{escape_like(term)}%"] * one.count("?")
            groups.append(f"({' AND '.join(parts)})")
        condition = " OR ".join(groups) or "0"
        return Matches(
            f"SELECT {peer.rowid} AS rowid, NULL AS rank, '{scope}' AS origin "
            f"FROM {peer.source} WHERE ({condition}) AND {peer.visible}",
            tuple(parameters),
            route="LIKE over the rows",
        )


def term_groups(text: str) -> list[list[tuple[str, bool]]]:
    """The terms of a query as (term, negated), by group; quotes and stars are taken off."""
    groups: list[list[tuple[str, bool]]] = [[]]
    negated = False
    for word in split_terms(text):
        if word == "OR":
            groups.append([])
        elif word == "NOT":
            negated = True
        elif word != "AND":
            term = word.strip('"*')
            if term:
                groups[-1].append((term, negated))
            negated = False
    return [group for group in groups if group]


def split_terms(text: str) -> list[str]:
    """Words and quoted strings, in order; brackets and NEAR's wrapping separate."""
    terms: list[str] = []
    pieces = text.split('"')
    for i, piece in enumerate(pieces):
        if i % 2:
            terms.append(f'"{piece}"')
        else:
            for word in piece.replace("(", " ").replace(")", " ").replace(",", " ").split():
                if word != "NEAR":
                    terms.append(word)
    return terms
