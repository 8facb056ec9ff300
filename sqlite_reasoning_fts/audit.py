"""The audit: what an agent's own search cannot reach, measured and shown on its own routes."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .adapters.base import RouteTemplate
from .counting import counted
from .database import quote_name
from .designs import Scan
from .errors import QueryError
from .progress import Progress
from .query import Query
from .reader import Reader
from .results import ArchiveInfo, AuditReport, GapReport, Route
from .sampling import SAMPLED_ROWS, query_lines, sampled_thoughts, tokens_of
from .search import default_rows
from .selection import select

SHOWN_TOKENS = 3
"""Tokens for which the routes are walked."""

TRIED_TOKENS = 60
ROWS_A_QUERY = 1000
MIN_TOKEN_CHARACTERS = 4


def audit(
    reader: Reader,
    info: ArchiveInfo,
    token: str | None,
    queries: Sequence[str] | None,
    seed: int,
    progress: Progress | None,
) -> AuditReport:
    """Counts, walks the agent's routes with tokens, and samples the gap."""
    if token is not None and reader.parse(token).is_empty:
        raise QueryError(f"the token {token!r} has no letters or digits", "give a word")
    counts = counted(reader, progress)
    pairs = _sampled_pairs(reader, seed)
    tokens = [token] if token is not None else _only_thought(reader, pairs)
    gap = (
        _gap_of_queries(reader, queries)
        if queries is not None
        else _gap_of_tokens(reader, pairs, progress)
    )
    return AuditReport(
        archive=info,
        rows=counts.rows,
        rows_with_reasoning=counts.rows_with_reasoning,
        reasoning_characters=counts.reasoning_characters,
        content_characters=counts.content_characters,
        ratio=(
            counts.reasoning_characters / counts.content_characters
            if counts.content_characters
            else None
        ),
        turns_reasoning_only=counts.turns_reasoning_only,
        rows_unreadable=counts.rows_unreadable,
        rows_duplicate=counts.rows_duplicate,
        rows_orphaned=counts.rows_orphaned,
        routes=tuple(_walk(reader, tokens, progress)),
        queries=gap,
    )


def _walk(reader: Reader, tokens: Sequence[str], progress: Progress | None) -> list[Route]:
    """Each token through each route of the agent: the statement, and the rows that it counts."""
    walks: list[tuple[str, RouteTemplate]] = [
        (token, template) for token in tokens for template in reader.adapter.routes
    ]
    found = []
    for done, (token, template) in enumerate(walks):
        if progress:
            progress(done, len(walks), "walking the agent's routes")
        parameters = template.parameters(token)
        count = int(reader.database.value(template.sql, parameters))
        found.append(Route(template.name, template.pasted(token), parameters, token, count))
    return found


def _sampled_pairs(reader: Reader, seed: int) -> list[tuple[int, str]]:
    """One token of each of some rows with thought, drawn from the row's distinct tokens."""
    random_ = random.Random(seed)
    sample = sampled_thoughts(reader, random_, SAMPLED_ROWS)
    pairs = []
    for rowid, tokens in tokens_of(sample, reader.options).items():
        distinct = sorted({t for t in tokens if len(t) >= MIN_TOKEN_CHARACTERS} or set(tokens))
        if distinct:
            pairs.append((rowid, random_.choice(distinct)))
    return pairs


def _only_thought(reader: Reader, pairs: Sequence[tuple[int, str]]) -> list[str]:
    """Sampled tokens that stand in no row's said text."""
    chosen: list[str] = []
    candidates = dict.fromkeys(token for _, token in pairs if not token.isdigit())
    longest_first = sorted(list(candidates)[:TRIED_TOKENS], key=len, reverse=True)
    for token in longest_first:
        if len(chosen) == SHOWN_TOKENS:
            break
        if not _stands_in_said(reader, token):
            chosen.append(token)
    return chosen


def _stands_in_said(reader: Reader, token: str) -> bool:
    query = reader.parse(token)
    if not reader.projection.said:
        return False
    matches = Scan(reader).matches(query, "said", ranked=False)
    index = reader.adapter.own_index
    if index is not None:
        table = reader.database.table(index.table)
        sql = f"SELECT 1 FROM {table} WHERE {index.table} MATCH ? LIMIT 1"
        return bool(reader.database.value(sql, (query.fts5,)))
    return matches.any(reader.database)


def _gap_of_tokens(
    reader: Reader, pairs: Sequence[tuple[int, str]], progress: Progress | None
) -> GapReport:
    """For (row, token of its thought): does the default search find the row, does any scope?"""
    by_default = by_any = 0
    for done, (rowid, token) in enumerate(pairs):
        if progress:
            progress(done, len(pairs), "sampling the gap")
        query = reader.parse(token)
        by_default += rowid in _default(reader, query, [rowid])
        by_any += _matches(reader, query, "all", rowid)
    return _report(len(pairs), by_default, by_any)


def _gap_of_queries(reader: Reader, queries: Sequence[str]) -> GapReport:
    """For each query and each visible row that some scope finds: does the default find it too?"""
    sampled = by_default = 0
    for _, text in query_lines(queries):
        query = reader.parse(text)
        if query.is_empty:
            continue
        matches = Scan(reader).matches(query, "all", ranked=False)
        rows = [
            row.rowid for row in select(reader, matches, order="newest", limit=ROWS_A_QUERY).rows
        ]
        if rows:
            sampled += len(rows)
            by_default += len(_default(reader, query, rows))
    return _report(sampled, by_default, sampled)


def _report(sampled: int, by_default: int, by_any: int) -> GapReport:
    if not sampled:
        return GapReport(0, None, None, None)
    return GapReport(
        sampled, by_default / sampled, by_any / sampled, (by_any - by_default) / sampled
    )


def _default(reader: Reader, query: Query, rowids: list[int]) -> set[int]:
    """Rows that the agent's default search finds; without one, rows whose said text matches."""
    found = default_rows(reader, query.fts5, rowids)
    if found is not None:
        return found
    return {rowid for rowid in rowids if _matches(reader, query, "said", rowid)}


def _matches(reader: Reader, query: Query, scope: str, rowid: int) -> bool:
    """Whether one visible row matches within a scope."""
    columns = ", ".join(quote_name(column) for column in reader.columns)
    sql = (
        f"SELECT 1 FROM {reader.source} WHERE rowid = ? AND visible "
        f"AND reasoning_match_columns(?, ?, {columns})"
    )
    return bool(reader.database.value(sql, (rowid, reader.spec(scope), query.fts5)))
