"""The answers of the package: frozen dataclasses whose ``to_dict()`` is the JSON contract.

Times are Unix seconds (``None`` where the agent stored none), sizes are bytes, durations carry
their unit in the name, growth is a fraction (0.31 for 31 %).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Key = int | str
"""The agent's own identity of a row."""


class Result:
    """What every result can do."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain lists, dicts, strings and numbers, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class ArchiveInfo(Result):
    """Which file was read."""

    path: str
    agent: str
    schema_version: str | None
    bytes: int
    journal_mode: str
    sqlite_version: str


@dataclass(frozen=True)
class Hit(Result):
    """One row that matched. ``rank`` is FTS5's (smaller is better), ``None`` in newest order."""

    key: Key
    session_id: Key | None
    role: str | None
    created_at: float | None
    rank: float | None
    origin: str
    snippet: str
    in_default_search: bool | None


@dataclass(frozen=True)
class Coverage(Result):
    """What an answer is based on, and why it is empty when it is."""

    rows_considered: int
    rows_rechecked: int
    rows_unreadable: int
    rows_lagging: int
    synced_at: float | None
    cut_by_limit: bool
    route: str
    empty_because: str | None


@dataclass(frozen=True)
class SearchResult(Result):
    """The hits of one query, in order, with their coverage."""

    query: str
    scope: str
    syntax: str
    match: str
    order: str
    design: str
    placement: str | None
    hits: tuple[Hit, ...]
    coverage: Coverage


@dataclass(frozen=True)
class Route(Result):
    """One way in which the agent itself searches, tried with one token.

    ``sql`` can be pasted into a shell as it stands; ``parameters`` are the values in it.
    """

    name: str
    sql: str
    parameters: tuple[str, ...]
    token: str
    count: int


@dataclass(frozen=True)
class GapReport(Result):
    """Of ``sampled`` (query, row) pairs: the shares that the default search and any scope find."""

    sampled: int
    hit_content: float | None
    hit_any: float | None
    gap: float | None


@dataclass(frozen=True)
class AuditReport(Result):
    """The hole in an agent's search, measured."""

    archive: ArchiveInfo
    rows: int
    rows_with_reasoning: int
    reasoning_characters: int
    content_characters: int
    ratio: float | None
    turns_reasoning_only: int
    rows_unreadable: int
    rows_duplicate: int
    rows_orphaned: int
    routes: tuple[Route, ...]
    queries: GapReport


@dataclass(frozen=True)
class Oracle(Result):
    """The real FTS5 tables that every design is compared with."""

    sqlite_version: str
    rows: int
    queries: int


@dataclass(frozen=True)
class DesignCost(Result):
    """What a design stores and whether its answers are the oracle's."""

    name: str
    bytes: int
    growth_of_index: float | None
    growth_of_file: float
    build_seconds: float
    agrees: bool
    answers_checked: int


@dataclass(frozen=True)
class Latency(Result):
    """How long one query took, warm: median and quartiles over ``runs`` runs."""

    design: str
    kind: str
    order: str
    scope: str
    query: str
    median_ms: float
    p25_ms: float
    p75_ms: float
    runs: int
    hits: int


@dataclass(frozen=True)
class Disagreement(Result):
    """A query for which a design and the oracle differ, with the first difference."""

    design: str
    scope: str
    order: str
    query: str
    what: str
    expected: str
    found: str


@dataclass(frozen=True)
class DefaultSearch(Result):
    """Whether the agent's default search is the same after the design is in place."""

    design: str
    ranker: str
    same_rows: bool
    same_order: bool
    same_ranks: bool
    changed_top10: tuple[str, ...]


@dataclass(frozen=True)
class Comparison(Result):
    """What each design costs and gives on one archive."""

    archive: ArchiveInfo
    seed: int
    oracle: Oracle
    designs: tuple[DesignCost, ...]
    latency: tuple[Latency, ...]
    disagreements: tuple[Disagreement, ...]
    default_search: tuple[DefaultSearch, ...]
    summary: tuple[str, ...]
    rows: int
    rows_with_reasoning: int
    reasoning_characters: int
    content_characters: int
    wal_growth_bytes: int
    index_bytes: int | None
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether every design but ``like`` gave the oracle's answers."""
        return not any(d.design != "like" for d in self.disagreements)
