"""What a design is: a way to find the rows that match, with their ranks and origins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..database import quote_name
from ..query import Query


@dataclass(frozen=True)
class Matches:
    """The matching rows as SQL that yields ``rowid, rank, origin``, in any order.

    ``rank`` is NULL where none was asked for. ``route`` says in words where the answer comes
    from, ``rechecked`` how many rows were compared with their text again.
    """

    sql: str
    parameters: tuple[Any, ...] = ()
    route: str = ""
    rechecked: int = 0


LISTED = (
    "SELECT json_extract(value, '$[0]') AS rowid, json_extract(value, '$[1]') AS rank, "
    "json_extract(value, '$[2]') AS origin FROM json_each(?)"
)
"""Matches that are at hand, bound as a JSON array of ``[rowid, rank, origin]``."""

NOTHING = "SELECT NULL AS rowid, NULL AS rank, NULL AS origin WHERE 0"


class Design(Protocol):
    """One way to answer a query."""

    @property
    def name(self) -> str: ...

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        """All rows that match within the scope, visible or not."""
        ...


@dataclass(frozen=True)
class IndexTable:
    """An FTS5 table on the connection: its schema, name, and columns in order."""

    schema: str
    name: str
    columns: tuple[str, ...]

    @property
    def sql(self) -> str:
        return f"{quote_name(self.schema)}.{quote_name(self.name)}"

    def numbers(self, columns: Sequence[str]) -> str:
        """A column set as the library's functions take it."""
        return " ".join(str(i) for i, name in enumerate(self.columns) if name in columns)
