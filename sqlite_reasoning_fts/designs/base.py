"""What a design is: a way to find the rows that match, with their ranks and origins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..database import Database, quote_name
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

    def parts(self) -> Iterator[Matches]:
        """The same rows in parts, of which each is newer than all that follow: who asks for the
        newest rows can stop early."""
        yield self

    def any(self, database: Database) -> bool:
        """Whether any row matches, visible or not."""
        return any(
            database.value(f"SELECT 1 FROM ({part.sql}) LIMIT 1", part.parameters)
            for part in self.parts()
        )


@dataclass(frozen=True)
class MatchesInParts(Matches):
    """Matches that are found part by part, each time that they are asked for."""

    found: Callable[[], Iterator[Matches]] = lambda: iter(())

    def parts(self) -> Iterator[Matches]:
        return self.found()


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
