"""Ranges of rowids that share out a pass over all rows, found by a few probes.

To count off the rows of each range would take a pass of its own. Instead the range that seems to
hold most rows is halved, again and again, until none holds much more than its share. How many rows
a range holds is told from how close together they lie at its two ends, so dense rowids, the usual
case, are split evenly, and clusters far from each other are found.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

from .reader import Reader

Range = tuple[int, int]
"""The first rowid and the last one, both included."""

SAMPLE = 16
"""Rows that are looked at on either end of a range."""

MAX_SPLITS = 256


def split(reader: Reader, parts: int) -> list[Range] | None:
    """At least ``parts`` ranges that hold all rows, in order; fewer where there are too few rows.

    ``None`` where rows cannot be looked up by rowid, so that each range would read all of them.
    """
    if not _is_ordered(reader):
        return None
    first, last = _neighbour(reader, None, up=True), _neighbour(reader, None, up=False)
    if first is None or last is None:
        return []
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    share = 1.5 * reader.row_count() / parts
    done: list[Range] = []
    waiting = [_Part.of(reader, first, last)]
    for _ in range(MAX_SPLITS):
        if not waiting or (waiting[0].rows <= share and len(waiting) + len(done) >= parts):
            break
        widest = heapq.heappop(waiting)
        if widest.first == widest.last:
            done.append((widest.first, widest.last))
            continue
        middle = (widest.first + widest.last) // 2
        heapq.heappush(
            waiting,
            _Part.of(reader, widest.first, _neighbour(reader, middle, up=False)),
        )
        heapq.heappush(
            waiting,
            _Part.of(reader, _neighbour(reader, middle + 1, up=True), widest.last),
        )
    return sorted(done + [(part.first, part.last) for part in waiting])


@dataclass(frozen=True, order=True)
class _Part:
    """A range, with how many rows it seems to hold; the fullest one sorts first."""

    order: float
    first: int
    last: int
    rows: float = field(compare=False)

    @classmethod
    def of(cls, reader: Reader, first: int, last: int) -> _Part:
        width = last - first + 1
        rows = 0.0
        for way in ("ASC", "DESC"):
            low, high, count = reader.database.all(
                f"SELECT min(rowid), max(rowid), count(*) FROM (SELECT rowid FROM {reader.source} "
                f"WHERE rowid BETWEEN ? AND ? ORDER BY rowid {way} LIMIT {SAMPLE})",
                (first, last),
            )[0]
            rows = max(rows, width * count / (high - low + 1))
        return cls(-rows, first, last, rows)


def _neighbour(reader: Reader, rowid: int | None, *, up: bool) -> Any:
    """The nearest rowid from one on, upwards or downwards; the first or last of all from None."""
    condition = "" if rowid is None else f"WHERE rowid {'>=' if up else '<='} ?"
    return reader.database.value(
        f"SELECT rowid FROM {reader.source} {condition} "
        f"ORDER BY rowid {'ASC' if up else 'DESC'} LIMIT 1",
        () if rowid is None else (rowid,),
    )


def _is_ordered(reader: Reader) -> bool:
    """Whether SQLite looks rowids up and has them in order, going by its own plan."""
    plan = reader.database.all(
        f"EXPLAIN QUERY PLAN SELECT rowid FROM {reader.source} "
        "WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
        (0, 0),
    )
    return all(str(row[3]).startswith("SEARCH ") for row in plan)
