"""From matching rows to the rows of an answer: visibility, filters, order, limit.

The same SQL for every design, so that none of them can differ here. Filters apply before the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .database import as_text, text_as_blob
from .designs import Matches
from .errors import UsageError
from .reader import Reader
from .results import Key

YEAR_10000 = 253_402_300_800
RANK = "CASE WHEN {rank} IS NOT NULL THEN CAST(printf('%.9g', {rank}) AS REAL) END"
"""Ranks are compared and sorted rounded to nine significant digits."""


@dataclass(frozen=True)
class Filters:
    """Which rows may be in an answer. Times are Unix seconds, ``until`` is exclusive."""

    roles: tuple[str, ...] | None = None
    session: Key | None = None
    since: float | None = None
    until: float | None = None

    @classmethod
    def of(
        cls,
        roles: Iterable[str] | None,
        session: Key | None,
        since: float | None,
        until: float | None,
    ) -> Filters:
        """Filters from a caller's arguments; one role may be given as it is."""
        for name, value in (("since", since), ("until", until)):
            if value is not None and not isinstance(value, int | float):
                raise UsageError(f"{name} is {value!r}", "give Unix seconds, a number")
        chosen = (roles,) if isinstance(roles, str) else roles
        return cls(None if chosen is None else tuple(chosen), session, since, until)

    def condition(self) -> tuple[str, tuple[object, ...]]:
        """An SQL condition on the projection ``p``, and its parameters."""
        parts: list[str] = ["p.visible"]
        parameters: list[object] = []
        if self.roles is not None:
            parts.append(f"p.role IN ({', '.join('?' * len(self.roles))})")
            parameters += self.roles
        if self.session is not None:
            parts.append("CAST(p.session_id AS TEXT) = CAST(? AS TEXT)")
            parameters.append(self.session)
        if self.since is not None:
            parts.append("p.created_at >= ?")
            parameters.append(self.since)
        if self.until is not None:
            parts.append("p.created_at < ?")
            parameters.append(self.until)
        return " AND ".join(parts), tuple(parameters)


NO_FILTERS = Filters()


@dataclass(frozen=True)
class Selected:
    """A row of an answer, before its text is read."""

    rowid: int
    key: Key
    session_id: Key | None
    role: str | None
    created_at: float | None
    rank: float | None
    origin: str


@dataclass(frozen=True)
class Selection:
    """The rows of an answer, whether there are more, and how many rows were rechecked for it."""

    rows: tuple[Selected, ...]
    cut_by_limit: bool
    rechecked: int = 0


def select(
    reader: Reader,
    matches: Matches,
    *,
    order: str,
    limit: int,
    filters: Filters = NO_FILTERS,
    fold_sessions: bool = False,
) -> Selection:
    """The first ``limit`` rows in order; one a session where sessions are folded."""
    rows: list[Selected] = []
    sessions: set[Key | None] = set()
    read: list[Matches] = []
    parts = _noting(matches.parts(), read)
    more = False
    for row in _in_order(reader, parts, order, filters, None if fold_sessions else limit + 1):
        if fold_sessions:
            if row.session_id in sessions:
                continue
            sessions.add(row.session_id)
        if len(rows) == limit:
            more = True
            break
        rows.append(row)
    return Selection(tuple(rows), more, sum(part.rechecked for part in read))


def _noting(parts: Iterator[Matches], read: list[Matches]) -> Iterator[Matches]:
    for part in parts:
        read.append(part)
        yield part


def ordered(
    reader: Reader,
    matches: Matches,
    order: str,
    filters: Filters = NO_FILTERS,
    limit: int | None = None,
) -> Iterator[Selected]:
    """The rows that match and may be shown, in order, one at a time."""
    return _in_order(reader, matches.parts(), order, filters, limit)


def _in_order(
    reader: Reader, parts: Iterator[Matches], order: str, filters: Filters, limit: int | None
) -> Iterator[Selected]:
    for part in parts:
        for row in _part_in_order(reader, part, order, filters, limit):
            yield row
            limit = None if limit is None else limit - 1
        if limit == 0:
            return


def _part_in_order(
    reader: Reader, matches: Matches, order: str, filters: Filters, limit: int | None
) -> Iterator[Selected]:
    condition, values = filters.condition()
    texts = ", ".join(text_as_blob(name) for name in ("p.key", "p.session_id", "p.role"))
    wanted = f"p.rowid, {texts}, p.created_at, m.rank, m.origin"
    rank = RANK.format(rank="rank")
    cut = "" if limit is None else f" LIMIT {limit:d}"
    if order == "rank" and reader.projection.key == reader.projection.rowid:
        # The key is at hand without reading the row: sort first, so that rows are looked up only
        # until the limit is reached. The outer loop keeps the order of the sorted rows.
        sql = (
            f"WITH m AS MATERIALIZED (SELECT rowid, {rank} AS rank, origin FROM ({matches.sql}) "
            f"ORDER BY 2, 1) SELECT {wanted} FROM m CROSS JOIN {reader.source} AS p "
            f"ON p.rowid = m.rowid WHERE {condition}{cut}"
        )
    else:
        key = "p.key COLLATE BINARY"
        by = f"m.rank, {key}" if order == "rank" else f"p.created_at DESC NULLS LAST, {key} DESC"
        sql = (
            f"WITH m AS MATERIALIZED (SELECT rowid, {rank} AS rank, origin FROM ({matches.sql})) "
            f"SELECT {wanted} FROM m CROSS JOIN {reader.source} AS p ON p.rowid = m.rowid "
            f"WHERE {condition} ORDER BY {by}{cut}"
        )
    for row in reader.database.rows(sql, (*matches.parameters, *values)):
        rowid, key, session, role, created_at, found, origin = row
        if not isinstance(created_at, int | float) or not abs(created_at) < YEAR_10000:
            created_at = None  # no time that could be shown
        yield Selected(
            rowid, as_text(key), as_text(session), as_text(role), created_at, found, origin
        )
