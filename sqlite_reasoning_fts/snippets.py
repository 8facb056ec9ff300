"""Snippets: what FTS5's ``snippet()`` makes of a row's text, on every route and host the same.

The library makes them of the few rows of an answer, from their text as it stands, so a snippet
depends neither on the design nor on what an index stores. A row in whose text nothing matches shows
its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .database import Database, quote_name
from .query import Query

TOKENS = 24
ELLIPSIS = "…"
HEAD_CHARACTERS = 160


@dataclass(frozen=True)
class Marks:
    """What stands before and after a word that matched."""

    open: str
    close: str


BRACKETS = Marks("[", "]")


def snippets(
    database: Database,
    texts: Mapping[int, Sequence[str | None]],
    query: Query,
    options: Iterable[str],
    wanted: Sequence[str],
    marks: Marks,
) -> dict[int, str]:
    """A snippet for each row; ``texts`` holds its columns in the query's order.

    Only the ``wanted`` columns are looked at; where they cannot match, the head of the first that
    has text is given.
    """
    found: dict[int, str] = {}
    text = query.restricted(wanted)
    if text is not None:
        found = _matching(database, texts, query, options, text, marks)
    places = [i for i, column in enumerate(query.columns) if column in wanted]
    for row, columns in texts.items():
        if row not in found:
            found[row] = _head(next((columns[i] for i in places if columns[i]), "") or "")
    return found


def _matching(
    database: Database,
    texts: Mapping[int, Sequence[str | None]],
    query: Query,
    options: Iterable[str],
    text: str,
    marks: Marks,
) -> dict[int, str]:
    spec = ", ".join([*map(quote_name, query.columns), *options])
    values = ", ".join("?" * len(query.columns))
    sql = (
        f"SELECT reasoning_snippet_columns(?, ?, ?, ?, ?, ?, {values}) "
        f"WHERE reasoning_match_columns(?, ?, {values})"
    )
    found = {}
    for row, columns in texts.items():
        for (snippet,) in database.rows(
            sql,
            (spec, text, marks.open, marks.close, ELLIPSIS, TOKENS, *columns, spec, text, *columns),
        ):
            found[row] = str(snippet)
    return found


def _head(text: str) -> str:
    return text if len(text) <= HEAD_CHARACTERS else text[:HEAD_CHARACTERS].rstrip() + ELLIPSIS
