"""Counting what an archive holds, through its projection."""

from __future__ import annotations

from dataclasses import dataclass

from .database import quote_name
from .progress import Progress
from .projection import THOUGHT
from .reader import Reader


@dataclass(frozen=True)
class Counts:
    """What the archive holds. Characters are those of the decoded or indexed text."""

    rows: int
    rows_with_reasoning: int
    reasoning_characters: int
    content_characters: int
    turns_reasoning_only: int
    rows_unreadable: int
    rows_duplicate: int
    rows_orphaned: int


def counted(reader: Reader, progress: Progress | None = None) -> Counts:
    """Counts the projection, a range of rows at a time."""
    said = " + ".join(_characters(name) for name in reader.projection.said_names) or "0"
    sql = (
        f"SELECT count(*), count({THOUGHT}), total({_characters(THOUGHT)}), total({said}), "
        f"total({THOUGHT} IS NOT NULL AND content_empty), total(unreadable), total(duplicate), "
        f"total(orphaned) FROM {reader.source} WHERE rowid BETWEEN ? AND ?"
    )
    totals = [0] * 8
    ranges = reader.row_ranges()
    for done, (first, last) in enumerate(ranges):
        if progress:
            progress(done, len(ranges), "counting")
        row = reader.database.all(sql, (first, last))[0]
        totals = [total + int(value) for total, value in zip(totals, row, strict=True)]
    if progress:
        progress(len(ranges), len(ranges), "counting")
    return Counts(*totals)


def _characters(column: str) -> str:
    """A text's length in characters; length() stops at a NUL, so then its bytes are counted."""
    name = quote_name(column)
    return (
        f"CASE WHEN instr(CAST({name} AS BLOB), x'00') THEN length(CAST({name} AS BLOB)) "
        f"ELSE length(COALESCE({name}, '')) END"
    )
