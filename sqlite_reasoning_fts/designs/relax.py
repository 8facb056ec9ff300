"""The relaxed query: what an index without positions and columns can answer of a query.

It finds every row that the query matches, and perhaps more: a phrase and a NEAR group become an AND
of their tokens, ``^`` and column filters are dropped, prefixes stay, and ``a NOT b`` becomes ``a``.
A token is asked for by the word that it was made of, so that FTS5's tokenizer makes the same token
of it again, with all others that stand at its place (synonyms), which FTS5 joins by OR. Not every
tokenizer reads a word alone as it reads it among others, so what FTS5 makes of the relaxed query is
compared with what it should be before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..database import Database
from ..errors import QueryError
from ..query import Node, Query, leaf_columns, quoted

Place = tuple[tuple[str, ...], bool]
"""The tokens that may stand at one place of a phrase, and whether they are prefixes."""


@dataclass(frozen=True)
class Relaxed:
    """A query for the index; ``exact`` says that it finds just the rows that match.

    The text is ``None`` where the index cannot be asked: then any row may match.
    """

    text: str | None
    exact: bool


@dataclass(frozen=True)
class _Part:
    text: str
    exact: bool
    places: tuple[Place, ...]


def relax(
    database: Database,
    spec: str,
    query: Query,
    columns: Sequence[str],
    *,
    rows_are_documents: bool,
    node: Node | None = None,
) -> Relaxed | None:
    """A query, or one node of it, for an index over some columns that has the tokenizer of
    ``spec``; ``None`` where these columns cannot match at all.

    ``rows_are_documents`` says that each document of the index is one row as it is now. Only then
    may what the index finds be left out (NOT), or be an answer.
    """
    part = _relaxed(node or query.tree, query, columns, rows_are_documents)
    if part is None:
        return None
    if not _is_understood(database, spec, part):
        return Relaxed(None, exact=False)
    return Relaxed(part.text, part.exact and rows_are_documents)


def _relaxed(
    node: Node, query: Query, columns: Sequence[str], rows_are_documents: bool
) -> _Part | None:
    op = node["op"]
    if op == "nothing":
        return None
    if op == "near":
        return _leaf(node) if leaf_columns(node, query.columns, columns) else None
    parts = [_relaxed(child, query, columns, rows_are_documents) for child in node["children"]]
    if op == "not":
        left, right = parts
        if left is None or right is None:
            return left
        if rows_are_documents and _is_one_token(node["children"][1]):
            places = left.places + right.places
            return _Part(f"({left.text} NOT {right.text})", left.exact, places)
        return _Part(left.text, False, left.places)
    if op == "and" and None in parts:
        return None
    kept = [part for part in parts if part is not None]
    return _joined(op, kept) if kept else None


def _leaf(leaf: Node) -> _Part:
    parts = [
        _Part(quoted(word) + (" *" if prefix else ""), True, ((tuple(tokens), prefix),))
        for phrase in leaf["phrases"]
        for tokens, word, prefix in zip(
            phrase["tokens"], phrase["words"], phrase["prefixes"], strict=True
        )
    ]
    initial = any(phrase["initial"] for phrase in leaf["phrases"])
    joined = _joined("and", parts)
    return _Part(joined.text, len(parts) == 1 and not initial, joined.places)


def _joined(op: str, parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    text = f" {op.upper()} ".join(part.text for part in parts)
    places = tuple(place for part in parts for place in part.places)
    return _Part(f"({text})", all(part.exact for part in parts), places)


def _is_one_token(node: Node) -> bool:
    """A single token that is asked of every column."""
    if node["op"] != "near" or node["columns"] is not None or len(node["phrases"]) > 1:
        return False
    phrase = node["phrases"][0]
    return not phrase["initial"] and phrase["prefixes"] == [False]


def _is_understood(database: Database, spec: str, part: _Part) -> bool:
    """Whether FTS5 makes the expected tokens of a relaxed query, one place a word."""
    try:
        tree = json.loads(database.value("SELECT reasoning_parse(?, ?)", (spec, part.text)))
    except QueryError:
        return False  # it nests deeper than FTS5's parser goes
    return tuple(_places(tree)) == part.places


def _places(node: Node) -> list[Place | None]:
    if node["op"] != "near":
        return [place for child in node.get("children", ()) for place in _places(child)]
    phrase = node["phrases"][0]
    if len(node["phrases"]) > 1 or len(phrase["tokens"]) > 1:
        return [None]
    return [(tuple(phrase["tokens"][0]), phrase["prefixes"][0])]
