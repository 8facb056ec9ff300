"""The projection: the one SELECT that turns an agent's rows into searchable columns.

View, index builds, scans and recheck all read the view that is made here, so that no two of them
can differ. It uses built-in SQL functions only: an agent's file never needs this package.
"""

from __future__ import annotations

from dataclasses import dataclass

from .database import quote_name

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
    ``said_stored`` and ``thought_stored`` are the columns of the agent's that together hold all
    that the said columns and the thought are made of: text that they hold as it is, or as JSON.
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
    said_stored: tuple[str, ...] = ()
    thought_stored: tuple[str, ...] = ()

    @property
    def said_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.said)

    @property
    def columns(self) -> tuple[str, ...]:
        """The searchable columns, said first, thought last."""
        return (*self.said_names, THOUGHT)

    @property
    def _all_stored(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.said_stored, *self.thought_stored)))

    def stored_name(self, stored: str) -> str:
        """The name in the view of a column that holds text before it is decoded."""
        return f"reasoning_stored_{self._all_stored.index(stored)}"

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
            *((stored, self.stored_name(stored)) for stored in self._all_stored),
        ]
        listed = ",\n  ".join(f"{expression} AS {quote_name(name)}" for expression, name in columns)
        return f"SELECT\n  {listed}\nFROM {self.source}"


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


def said_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names for said columns that collide neither with each other, nor with the view's own, nor
    with FTS5's and those of our tables, which begin with ``reasoning_``."""
    chosen: list[str] = []
    for name in names:
        free = name
        while (
            free.lower() in RESERVED
            or free.lower().startswith("reasoning_")
            or free.lower() in (other.lower() for other in chosen)
        ):
            free = f"said_{free}"
        chosen.append(free)
    return tuple(chosen)
