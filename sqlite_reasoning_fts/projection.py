"""The projection: the one SELECT that turns an agent's rows into searchable columns.

View, index builds, scans and recheck all read the view that is made here, so that no two of them
can differ. It uses built-in SQL functions only: an agent's file never needs this package.
"""

from __future__ import annotations

from dataclasses import dataclass

from .database import Database, quote_name

VIEW = "reasoning_projection"
"""The temporary view's name; it lives in the schema ``temp`` of one connection."""

THOUGHT = "thought"
"""The name of the column that holds the reasoning."""


@dataclass(frozen=True)
class Projection:
    """SQL expressions over ``FROM source``, each valid for every row.

    ``rowid`` is an integer that identifies a row and by which SQLite can look it up; ``key`` is
    the agent's own identity. ``said`` are the (name, expression) pairs of the agent's own index.
    ``visible``, ``unreadable``, ``duplicate`` and ``orphaned`` are 0 or 1: the agent's search
    shows the row; it has reasoning that cannot be read; the same reasoning stands in it twice;
    its session is gone. ``content_empty`` says that the row shows no text to a person.
    """

    source: str
    rowid: str
    key: str
    session: str
    role: str
    time: str
    said: tuple[tuple[str, str], ...]
    thought: str
    visible: str = "1"
    unreadable: str = "0"
    duplicate: str = "0"
    orphaned: str = "0"
    content_empty: str = "0"

    @property
    def said_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.said)

    @property
    def columns(self) -> tuple[str, ...]:
        """The searchable columns, said first, thought last."""
        return (*self.said_names, THOUGHT)

    def select(self) -> str:
        """The SELECT itself; a plain FROM without GROUP BY, so that SQLite can flatten it."""
        columns = [
            (self.rowid, "rowid"),
            (self.key, "key"),
            (self.session, "session_id"),
            (self.role, "role"),
            (self.time, "created_at"),
            (self.visible, "visible"),
            (self.unreadable, "unreadable"),
            (self.duplicate, "duplicate"),
            (self.orphaned, "orphaned"),
            (self.content_empty, "content_empty"),
            *((expression, name) for name, expression in self.said),
            (self.thought, THOUGHT),
        ]
        listed = ",\n  ".join(f"{expression} AS {quote_name(name)}" for expression, name in columns)
        return f"SELECT\n  {listed}\nFROM {self.source}"

    def create_view(self, database: Database) -> None:
        """Makes the temporary view on a connection; nothing is written to any file."""
        database.run(f"DROP VIEW IF EXISTS temp.{VIEW}")
        database.run(f"CREATE TEMP VIEW {VIEW} AS {self.select()}")


RESERVED = frozenset(
    [
        "rowid",
        "key",
        "session_id",
        "role",
        "created_at",
        "visible",
        "unreadable",
        "duplicate",
        "orphaned",
        "content_empty",
        "rank",
        "thought",
    ]
)
"""Names that a said column cannot have: the view's own, and FTS5's."""


def said_name(name: str) -> str:
    """A name for a said column that collides neither with the view's own nor with FTS5's."""
    return f"said_{name}" if name.lower() in RESERVED else name
