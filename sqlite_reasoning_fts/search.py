"""One search: a query, a scope and a design, answered with hits and their coverage."""

from __future__ import annotations

from dataclasses import dataclass

from .database import as_text, quote_name
from .designs import Design
from .errors import QueryError, UsageError
from .query import MATCHES, ORDERS, SCOPES, Query, check_choice
from .reader import Reader, RowCounts
from .results import Coverage, Hit, SearchResult
from .selection import NO_FILTERS, Filters, Selected, Selection, select
from .snippets import BRACKETS, Marks, snippets

MAX_LIMIT = 1_000_000_000


@dataclass(frozen=True)
class Request:
    """What is asked for, as in ``Archive.search``."""

    query: str
    scope: str = "said"
    syntax: str = "text"
    match: str = "words"
    order: str = "rank"
    limit: int = 20
    filters: Filters = NO_FILTERS
    fold_sessions: bool = False
    marks: Marks = BRACKETS

    def check(self) -> None:
        check_choice("scope", self.scope, SCOPES)
        check_choice("match", self.match, MATCHES)
        check_choice("order", self.order, ORDERS)
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"the limit is {self.limit}", f"give 1 to {MAX_LIMIT:,}")


def search(
    reader: Reader, design: Design, request: Request, counts: RowCounts, placement: str | None
) -> SearchResult:
    """Answers a request; raises a QueryError for a query that is none."""
    request.check()
    query = reader.parse(request.query, request.syntax)
    route = "none: the query has no words"
    selection, matched = Selection((), cut_by_limit=False), False
    ranked = request.order == "rank" and design.name != "like"
    order = "rank" if ranked else "newest"
    if not query.is_empty:
        matches = design.matches(query, request.scope, ranked=ranked)
        route = matches.route
        selection = select(
            reader,
            matches,
            order=order,
            limit=request.limit,
            filters=request.filters,
            fold_sessions=request.fold_sessions,
        )
        matched = bool(selection.rows) or matches.any(reader.database)
    return SearchResult(
        query=request.query,
        scope=request.scope,
        syntax=request.syntax,
        match=request.match,
        order=order,
        design=design.name,
        placement=placement,
        hits=_hits(reader, query, request, selection.rows),
        coverage=Coverage(
            rows_considered=counts.rows,
            rows_rechecked=selection.rechecked,
            rows_unreadable=counts.rows_unreadable,
            rows_lagging=0,
            synced_at=None,
            cut_by_limit=selection.cut_by_limit,
            route=route,
            empty_because=_why_empty(reader, query, request, counts, selection, matched),
        ),
    )


def _why_empty(
    reader: Reader,
    query: Query,
    request: Request,
    counts: RowCounts,
    selection: Selection,
    matched: bool,
) -> str | None:
    if selection.rows:
        return None
    if query.is_empty:
        return "the query has no words: the tokenizer drops all of its characters"
    if matched:
        return "rows match, but the filters or the agent's own visibility rule leave none of them"
    if not counts.rows:
        return "the archive has no rows"
    if request.scope == "thought" and not counts.rows_with_reasoning:
        return "no row of the archive has readable reasoning"
    if query.restricted(reader.scope_columns(request.scope)) is None:
        return f"the query asks only for columns outside the scope {request.scope!r}"
    return "nothing matched"


def _hits(
    reader: Reader, query: Query, request: Request, rows: tuple[Selected, ...]
) -> tuple[Hit, ...]:
    if not rows:
        return ()
    columns = ", ".join(f"CAST({quote_name(column)} AS BLOB)" for column in reader.columns)
    sql = f"SELECT {columns} FROM {reader.source} WHERE rowid = ?"
    texts = {
        row.rowid: [as_text(value) for value in reader.database.all(sql, (row.rowid,))[0]]
        for row in rows
    }
    shown = snippets(
        reader.database,
        texts,
        query,
        reader.options,
        reader.scope_columns(request.scope),
        request.marks,
    )
    default = default_rows(reader, query.fts5, [row.rowid for row in rows])
    return tuple(
        Hit(
            key=row.key,
            session_id=row.session_id,
            role=row.role,
            created_at=row.created_at,
            rank=row.rank,
            origin=row.origin,
            snippet=shown[row.rowid],
            in_default_search=None if default is None else row.rowid in default,
        )
        for row in rows
    )


def default_rows(reader: Reader, fts5: str, rowids: list[int]) -> set[int] | None:
    """Which of some rows the agent's default search finds; ``None`` where it has none.

    The agent is asked with the query as it is, its own index and its own filters.
    """
    sql = reader.adapter.default_search
    if sql is None:
        return None
    index = ", ".join(str(rowid) for rowid in rowids)
    try:
        found = reader.database.all(f"{sql} AND f.rowid IN ({index})", (fts5,))
    except QueryError:
        return set()  # a column that only our projection has: the agent's search finds nothing
    return {int(row[0]) for row in found}
