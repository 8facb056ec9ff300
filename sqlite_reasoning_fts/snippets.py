"""Snippets: what FTS5's ``snippet()`` makes of a row's text, on every route the same.

The few rows of an answer are put into an FTS5 table in memory and asked there, so a snippet depends
neither on the design nor on what an index stores. A row in whose text nothing matches shows its
head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from .database import quote_name
from .query import Query

TOKENS = 24
ELLIPSIS = "…"
HEAD_CHARACTERS = 160
TABLE = "reasoning_rows"
"""No column has a name that begins like this (see ``projection.said_names``)."""


@dataclass(frozen=True)
class Marks:
    """What stands before and after a word that matched."""

    open: str
    close: str


BRACKETS = Marks("[", "]")


def snippets(
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
    if text is not None and texts:
        found = _matching(texts, query, options, text, marks)
    places = [i for i, column in enumerate(query.columns) if column in wanted]
    for row, columns in texts.items():
        if row not in found:
            found[row] = _head(next((columns[i] for i in places if columns[i]), "") or "")
    return found


def _matching(
    texts: Mapping[int, Sequence[str | None]],
    query: Query,
    options: Iterable[str],
    text: str,
    marks: Marks,
) -> dict[int, str]:
    import apsw

    with closing(apsw.Connection(":memory:")) as memory:
        columns = [quote_name(column) for column in query.columns]
        memory.execute(
            f"CREATE VIRTUAL TABLE {TABLE} USING fts5({', '.join([*columns, *options])})"
        )
        insert = (
            f"INSERT INTO {TABLE}(rowid, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"
        )
        for row, values in texts.items():
            memory.execute(insert, (row, *values))
        rows: Any = memory.execute(
            f"SELECT rowid, snippet({TABLE}, -1, ?, ?, ?, ?) FROM {TABLE} WHERE {TABLE} MATCH ?",
            (marks.open, marks.close, ELLIPSIS, TOKENS, text),
        ).fetchall()
    return dict(rows)


def _head(text: str) -> str:
    return text if len(text) <= HEAD_CHARACTERS else text[:HEAD_CHARACTERS].rstrip() + ELLIPSIS
