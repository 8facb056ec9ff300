"""What a peer is: another program's way to search the same reasoning, measured beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..measured import Measured

LIMIT = 20
WORDS = frozenset({"rare", "common", "absent", "phrase"})
"""Kinds of query that every peer understands: one word, or words in a row."""


class Peer:
    """A peer over one corpus; what it stores is its own.

    ``bytes`` is what it stores beside the archive. An answer is the identities of the newest rows,
    or of all where no limit is given; which identities those are is the peer's affair, and
    ``truth`` gives the same ones as found by other means.
    """

    name = ""
    kinds = WORDS
    bytes = 0

    def __init__(self, measured: Measured, folder: Path) -> None:
        raise NotImplementedError

    @staticmethod
    def missing(measured: Measured) -> str | None:
        """Why this peer cannot take part, or ``None``."""
        return None

    def understands(self, item: WorkloadQuery) -> bool:
        """Whether this one query, of one of its kinds, can be put to it."""
        return True

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        """The newest rows that match."""
        raise NotImplementedError

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        """All identities that must be found, newest first."""
        raise NotImplementedError

    def close(self) -> None:
        """Gives back what is held open."""


def needle(item: WorkloadQuery) -> str:
    """The text that a search without words looks for: the tokens of the one phrase in a row."""
    phrase = item.query.tree["phrases"][0]
    return " ".join(phrase["words"])


def words(item: WorkloadQuery) -> list[str]:
    """The words of the one phrase."""
    return list(item.query.tree["phrases"][0]["words"])


def file_bytes(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths if path.exists())
