"""Snippets: the window of a row's text that shows its hits best, on every route the same.

They are made by the library (``reasoning_snippet_columns``) from the row's own text, so a snippet
depends neither on the design, nor on what an index stores, nor on the host's SQLite.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .database import as_text, quote_name
from .query import Query
from .reader import Reader

TOKENS = 24
ELLIPSIS = "…"
HEAD_CHARACTERS = 160
"""The most of a row in which nothing matches: its first words may be one, of a whole page."""


@dataclass(frozen=True)
class Marks:
    """What stands before and after a word that matched."""

    open: str
    close: str


BRACKETS = Marks("[", "]")


def snippets(
    reader: Reader, rowids: Iterable[int], query: Query, scope: str, marks: Marks
) -> dict[int, str]:
    """A snippet for each row, of the columns in the scope.

    Where these columns do not match, it is the head of the first of them that has text.
    """
    columns = ", ".join(quote_name(column) for column in reader.columns)
    sql = (
        f"SELECT reasoning_match_columns(?, ?, {columns}), "
        f"CAST(reasoning_snippet_columns(?, ?, ?, ?, ?, ?, {columns}) AS BLOB) "
        f"FROM {reader.source} WHERE rowid = ?"
    )
    asked = (reader.spec(scope), query.fts5)
    shape = (marks.open, marks.close, ELLIPSIS, TOKENS)
    found: dict[int, str] = {}
    for rowid in rowids:
        matches, value = reader.database.all(sql, (*asked, *asked, *shape, rowid))[0]
        text = as_text(value) or ""
        found[rowid] = text if matches else _head(text)
    return found


def _head(text: str) -> str:
    return text if len(text) <= HEAD_CHARACTERS else text[:HEAD_CHARACTERS].rstrip() + ELLIPSIS
