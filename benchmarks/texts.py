"""The reasoning of an archive in memory, and what a search in plain Python finds in it.

It is what peers index, and the truth for those that look for substrings instead of words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sqlite_reasoning_fts.database import as_text, text_as_blob
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.results import Key


@dataclass(frozen=True)
class Message:
    """A visible row with reasoning; the time in Unix seconds."""

    rowid: int
    session: Key | None
    role: str | None
    created_at: float | None
    thought: str


@dataclass(frozen=True)
class Texts:
    """The messages, newest first."""

    messages: tuple[Message, ...]
    _found: dict[tuple[str, bool], tuple[Message, ...]] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(len(message.thought.encode()) for message in self.messages)

    def containing(self, needle: str, *, ascii_only: bool) -> tuple[Message, ...]:
        """The messages with a needle in them, case folded in ASCII alone or in all scripts."""
        asked = needle, ascii_only
        if asked not in self._found:
            flags = re.IGNORECASE | (re.ASCII if ascii_only else 0)
            pattern = re.compile(re.escape(needle), flags)
            self._found[asked] = tuple(m for m in self.messages if pattern.search(m.thought))
        return self._found[asked]


def read(reader: Reader) -> Texts:
    """All visible rows with reasoning."""
    texts = ", ".join(text_as_blob(name) for name in ("session_id", "role", "thought"))
    rows = reader.database.rows(
        f"SELECT rowid, created_at, {texts} FROM {reader.source} WHERE thought IS NOT NULL "
        "AND visible ORDER BY created_at DESC NULLS LAST, key COLLATE BINARY DESC"
    )
    return Texts(
        tuple(
            Message(rowid, as_text(session), as_text(role), created_at, as_text(thought) or "")
            for rowid, created_at, session, role, thought in rows
        )
    )
