"""Queries: from what a person types to FTS5's grammar, and to what a set of columns can answer.

The tree comes from the C library (``reasoning_parse``), so there is one parser. ``restricted``
writes the part of a query that some columns can answer back as an FTS5 query: what is asked of
other columns matches nothing, and adds nothing to a rank.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .database import Database, quote_name
from .errors import QueryError, UsageError

SCOPES = ("said", "thought", "all")
SYNTAXES = ("text", "fts5")
ORDERS = ("rank", "newest")
MATCHES = ("words",)

MAX_QUERY_BYTES = 16_384
"""Longer queries are refused: the time that a query takes grows with its words."""

Node = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A query that was understood: as typed, as FTS5 reads it, and as a tree.

    ``columns`` are the searchable columns by the numbers that the tree uses.
    """

    text: str
    syntax: str
    fts5: str
    columns: tuple[str, ...]
    tree: Node = field(compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether the query has no token, so that nothing can match it."""
        return bool(self.tree["op"] == "nothing")

    @property
    def has_stable_ranks(self) -> bool:
        """Whether FTS5 gives a row one rank, whatever rows it has met before.

        A branch that does not match, in a row that matches by another one, should count nothing in
        ``bm25()``. FTS5 keeps the position lists that it has at that moment: of a NEAR group it
        stops at the first phrase that is missing, with those of the others left over from an
        earlier row; of NOT, and of an OR or NOT below an AND, it may stand on the row without
        matching. So below OR and NOT such branches make ranks depend on the order of reading.
        """
        return _has_stable_ranks(self.tree, loose=False, free=False, joined=False)

    def restricted(self, columns: Sequence[str]) -> str | None:
        """The query as these columns can answer it, ``None`` where they cannot match at all.

        For a table that has these columns and perhaps others, by the same names.
        """
        return self.rewritten(lambda leaf: leaf_query(leaf, self.columns, columns))

    def rewritten(self, leaf: Callable[[Node], str | None]) -> str | None:
        """The query with each leaf replaced; ``None`` for a leaf says that it matches nothing."""
        return _rewrite(self.tree, leaf)

    def leaves(self) -> Iterator[Node]:
        """The NEAR groups and phrases, in FTS5's order."""
        yield from _leaves(self.tree)


def parse(database: Database, text: str, syntax: str, spec: str, columns: tuple[str, ...]) -> Query:
    """Understands a query; raises a QueryError that says what is wrong and at which byte."""
    check_choice("syntax", syntax, SYNTAXES)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise QueryError(
            f"the query holds a lone surrogate at character {error.start}, which is no text",
            "remove it, or decode the input with errors='replace'",
        ) from None
    if size > MAX_QUERY_BYTES:
        raise QueryError(
            f"the query has {size:,} bytes; {MAX_QUERY_BYTES:,} are the limit",
            "search for a part of it",
        )
    # FTS5 reads a C string: what follows a NUL is no part of the query.
    fts5 = quoted_words(text) if syntax == "text" else text.partition("\0")[0]
    if not fts5.strip():
        if syntax == "fts5":
            raise QueryError("the query is empty", "give at least one word")
        return Query(text, syntax, fts5, columns, {"op": "nothing"})
    tree = json.loads(database.value("SELECT reasoning_parse(?, ?)", (spec, fts5)))
    return Query(text, syntax, fts5, columns, tree)


def quoted_words(text: str) -> str:
    """Plain text as an FTS5 query: each word a string, once, all of which must match.

    A NUL would end FTS5's query, so it separates words as a blank does.
    """
    words = dict.fromkeys(text.replace("\0", " ").split())
    return " ".join(map(quoted, words))


def quoted(word: str) -> str:
    """A string of FTS5's grammar."""
    return '"' + word.replace('"', '""') + '"'


def leaf_query(leaf: Node, columns: Sequence[str], wanted: Sequence[str]) -> str | None:
    """One leaf for the ``wanted`` columns, ``None`` if its own filter leaves none of them."""
    allowed = leaf_columns(leaf, columns, wanted)
    return f"{column_filter(allowed)}{leaf['text']}" if allowed else None


def phrase_query(
    leaf: Node, phrase: Node, columns: Sequence[str], wanted: Sequence[str]
) -> str | None:
    """One phrase of a leaf alone, with the leaf's column filter."""
    allowed = leaf_columns(leaf, columns, wanted)
    return f"{column_filter(allowed)}{phrase['text']}" if allowed else None


def leaf_columns(leaf: Node, columns: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Those of the ``wanted`` columns that a leaf's filter allows."""
    numbers = leaf["columns"]
    named = columns if numbers is None else [columns[number] for number in numbers]
    return [column for column in wanted if column in named]


def column_filter(columns: Sequence[str]) -> str:
    """An FTS5 column filter for what follows it."""
    return "{" + " ".join(quote_name(column) for column in columns) + "} : "


def _rewrite(node: Node, leaf: Callable[[Node], str | None]) -> str | None:
    op = node["op"]
    if op == "nothing":
        return None
    if op == "near":
        return leaf(node)
    children = [_rewrite(child, leaf) for child in node["children"]]
    if op == "not":
        if children[0] is None or children[1] is None:
            return children[0]
        return f"({children[0]} NOT {children[1]})"
    if op == "and" and None in children:
        return None
    kept = [child for child in children if child is not None]
    return f"({f' {op.upper()} '.join(kept)})" if kept else None


def _has_stable_ranks(node: Node, *, loose: bool, free: bool, joined: bool) -> bool:
    """``loose`` says that a row may match without this node, ``free`` that it is below OR or NOT,
    on either side, and ``joined`` that below those there is an AND above it."""
    op = node["op"]
    if op == "near":
        return not loose or len(node["phrases"]) == 1
    if (op == "not" and (loose or joined)) or (op == "or" and joined):
        return False
    return all(
        _has_stable_ranks(
            child,
            loose=loose or op == "or" or (op == "not" and place == 1),
            free=free or op in ("or", "not"),
            joined=free and (joined or op == "and"),
        )
        for place, child in enumerate(node.get("children", ()))
    )


def _leaves(node: Node) -> Iterator[Node]:
    if node["op"] == "near":
        yield node
    for child in node.get("children", ()):
        yield from _leaves(child)


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuses a word that is none of the choices."""
    if value not in choices:
        raise UsageError(f"unknown {name} {value!r}", f"choose one of: {', '.join(choices)}")
