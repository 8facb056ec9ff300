"""What the machine allows: the reasoning read from memory, the file read, the rows fetched."""

from __future__ import annotations

from typing import Any

from . import cache
from .measured import Measured


def test_memory_read(described: Any, measured: Measured) -> None:
    """One pass over the same characters, in one piece, for a byte that is not among them."""
    whole = "".join(message.thought for message in measured.texts.messages).encode()
    missing = next(bytes([byte]) for byte in range(255, -1, -1) if bytes([byte]) not in whole)

    def search() -> None:
        assert whole.find(missing) == -1

    described.extra_info.update(table="limits", route="memory read", bytes=len(whole))
    described.pedantic(search, rounds=measured.rounds, warmup_rounds=1)


def test_file_read(described: Any, measured: Measured) -> None:
    """The archive's file from the file cache, in another process; its own clock counts."""
    taken: list[float] = []

    def read() -> None:
        taken.append(cache.warm(measured.path))

    described.extra_info.update(
        table="limits", route="file read", bytes=measured.path.stat().st_size
    )
    described.pedantic(read, rounds=min(3, measured.rounds))
    described.extra_info["seconds"] = min(taken)


def test_fetch(described: Any, measured: Measured) -> None:
    """The columns that the thought is made of, of every row, through SQLite."""
    expected = sum(
        int(value)
        for value in measured.reader.database.all(
            f"SELECT count(*) FROM {measured.reader.source} WHERE thought = x''"
        )[0]
    )

    def fetch() -> None:
        assert measured.fetch() == expected

    described.extra_info.update(table="limits", route="fetch")
    described.pedantic(fetch, rounds=measured.rounds, warmup_rounds=1)
