"""Hermes Agent, as its published package writes it: schema 22, inline FTS5 tables.

Reasoning stands in columns of the assistant's row, often the same text in two or three of them;
``reasoning_details`` and ``codex_reasoning_items`` are JSON and may be encrypted. The agent's own
index has one column, content, tool name and tool calls in a row, and keeps a copy of it.
"""

from __future__ import annotations

from ..database import Database, quote_name
from ..decoding import decoded, is_unreadable, joined_once
from ..projection import Projection
from .base import Adapter, LikePeer, OwnIndex, RouteTemplate

TEXT_COLUMNS = ("reasoning", "reasoning_content")
JSON_COLUMNS = ("reasoning_details", "codex_reasoning_items")
SAID = (
    "COALESCE(m.content, '') || ' ' || COALESCE(m.tool_name, '') || ' ' || "
    "COALESCE(m.tool_calls, '')"
)
SAID_STORED = ("m.content", "m.tool_name", "m.tool_calls")
DEFAULT_ROLES = "m.role IN ('user', 'assistant')"


def recognise(database: Database) -> Adapter | None:
    """The adapter for a Hermes archive, or ``None`` if the file is none."""
    columns = database.columns_of("messages")
    needed = {"id", "session_id", "role", "content", "tool_calls", "tool_name", "timestamp"}
    thought = tuple(c for c in TEXT_COLUMNS + JSON_COLUMNS if c in columns)
    if not needed <= columns.keys() or "reasoning" not in thought:
        return None
    if not database.columns_of("sessions"):
        return None
    missing = [c for c in TEXT_COLUMNS + JSON_COLUMNS if c not in columns]
    notes = [f"the file has no column messages.{name}: read as empty" for name in missing]
    visible = "1"
    if {"active", "compacted"} <= columns.keys():
        visible = "(m.active = 1 OR m.compacted = 1)"
    else:
        notes.append("the file has no columns active and compacted: no row counts as rewound")
    index = _own_index(database)
    if index is None:
        notes.append("the agent's own index messages_fts is missing or of another layout")
    messages, sessions = database.table("messages"), database.table("sessions")
    joined = f"{messages} AS m JOIN {sessions} AS s ON s.id = m.session_id"
    return Adapter(
        agent="hermes",
        schema_version=_schema_version(database),
        projection=_projection(messages, sessions, thought, visible),
        own_index=index,
        routes=_routes(database, joined, visible, index),
        like=_like(joined, thought, visible),
        default_search=_default_search(database, joined, visible, index),
        thought_columns=thought,
        notes=tuple(notes),
    )


def _projection(messages: str, sessions: str, thought: tuple[str, ...], visible: str) -> Projection:
    listed = [f"m.{column}" for column in thought]
    unreadable = " OR ".join(
        is_unreadable(f"m.{column}") for column in thought if column in JSON_COLUMNS
    )
    expression = _thought(thought)
    present = [f"m.{column} <> ''" for column in thought]
    session_exists = f"EXISTS (SELECT 1 FROM {sessions} AS s WHERE s.id = m.session_id)"
    return Projection(
        source=f"{messages} AS m",
        rowid="m.id",
        key="m.id",
        session="m.session_id",
        role="m.role",
        time="m.timestamp",
        said=(("content", SAID),),
        thought=expression,
        # As in the agent's own search, which joins the sessions and so drops orphaned rows.
        visible=f"(COALESCE({visible}, 0) AND {session_exists})",
        unreadable=f"(({unreadable or '0'}) AND ({expression}) IS NULL)",
        duplicate=_duplicate(listed, present),
        orphaned=f"NOT {session_exists}",
        content_empty="(COALESCE(m.content, '') = '')",
        said_stored=SAID_STORED,
        thought_stored=tuple(listed),
    )


def _thought(columns: tuple[str, ...]) -> str:
    """The decoded reasoning; rows with one text, the usual case, are answered by a plain column."""
    others = [f"m.{c}" for c in columns if c not in TEXT_COLUMNS]
    no_json = " AND ".join(f"{c} IS NULL" for c in others) or "1"
    parts = [f"m.{c}" for c in columns if c in TEXT_COLUMNS]
    parts += [decoded(c) for c in others]
    branches = []
    if "reasoning_content" in columns:
        same = "(m.reasoning_content IS NULL OR m.reasoning_content = m.reasoning)"
        branches.append(f"WHEN {no_json} AND {same} THEN nullif(m.reasoning, '')")
    else:
        branches.append(f"WHEN {no_json} THEN nullif(m.reasoning, '')")
    return f"CASE {' '.join(branches)} ELSE {joined_once(parts)} END"


def _duplicate(columns: list[str], present: list[str]) -> str:
    """1 where two text columns hold the same text, or a JSON column repeats a text column."""
    found = []
    if "m.reasoning_content" in columns:
        found.append("(m.reasoning_content = m.reasoning AND m.reasoning <> '')")
    for column in columns:
        if column.removeprefix("m.") in JSON_COLUMNS:
            found.append(
                f"({column} IS NOT NULL AND m.reasoning <> '' "
                f"AND ({decoded(column)}) = m.reasoning)"
            )
    return f"COALESCE({' OR '.join(found) or '0'}, 0)"


def _own_index(database: Database) -> OwnIndex | None:
    if list(database.columns_of("messages_fts")) != ["content"]:
        return None
    sql = database.value(
        f"SELECT sql FROM {quote_name(database.schema)}.sqlite_schema "
        "WHERE type = 'table' AND name = 'messages_fts'"
    )
    arguments = str(sql).partition("(")[2].rpartition(")")[0]
    if arguments.strip() != "content":
        return None  # another layout: external content, or a tokenizer of the agent's own
    return OwnIndex(table="messages_fts")


def _schema_version(database: Database) -> str | None:
    if not database.columns_of("schema_version"):
        return None
    version = database.value(f"SELECT max(version) FROM {database.table('schema_version')}")
    return None if version is None else str(version)


def _default_search(
    database: Database, joined: str, visible: str, index: OwnIndex | None
) -> str | None:
    if index is None:
        return None
    return (
        f"SELECT f.rowid FROM {database.table(index.table)} AS f "
        f"JOIN {joined.replace(' AS m JOIN ', ' AS m ON m.id = f.rowid JOIN ', 1)} "
        f"WHERE f.{quote_name(index.table)} MATCH ? AND {visible} AND {DEFAULT_ROLES}"
    )


def _routes(
    database: Database, joined: str, visible: str, index: OwnIndex | None
) -> tuple[RouteTemplate, ...]:
    routes = []
    if index is not None:
        routes += _index_routes(database, index.table, "main index", joined, visible)
    if database.columns_of("messages_fts_trigram"):
        routes += _index_routes(database, "messages_fts_trigram", "trigram index", joined, visible)
    like = " OR ".join(
        f"m.{column} LIKE ? ESCAPE '\\'" for column in ("content", "tool_name", "tool_calls")
    )
    routes.append(
        RouteTemplate(
            "LIKE fallback (short CJK terms)",
            f"SELECT count(*) FROM {joined} WHERE ({like})",
            ("like", "like", "like"),
        )
    )
    return tuple(routes)


def _index_routes(
    database: Database, table: str, name: str, joined: str, visible: str
) -> list[RouteTemplate]:
    """An index with the default role filter, with the one for tool rows, and its snippets."""
    source = (
        f"FROM {database.table(table)} "
        f"JOIN {joined.replace(' AS m JOIN ', f' AS m ON m.id = {table}.rowid JOIN ', 1)} "
        f"WHERE {table} MATCH ? AND {visible}"
    )
    snippet = f"snippet({table}, 0, '>>>', '<<<', '...', 40)"
    return [
        RouteTemplate(name, f"SELECT count(*) {source} AND {DEFAULT_ROLES}", ("match",)),
        RouteTemplate(
            f"{name}, role tool", f"SELECT count(*) {source} AND m.role = 'tool'", ("match",)
        ),
        RouteTemplate(
            f"{name}, its snippets",
            f"WITH found AS MATERIALIZED (SELECT {snippet} AS snippet {source}) "
            "SELECT count(*) FROM found WHERE snippet LIKE '%>>>%'",
            ("match",),
        ),
    ]


def _like(joined: str, thought: tuple[str, ...], visible: str) -> LikePeer:
    """The condition that is proposed for a flag: seven LIKEs a term, the details leaf by leaf."""
    said = " OR ".join(
        f"COALESCE(m.{column}, '') LIKE ? ESCAPE '\\'"
        for column in ("content", "tool_name", "tool_calls")
    )
    reasoning = [
        f"COALESCE(m.{column}, '') LIKE ? ESCAPE '\\'"
        for column in TEXT_COLUMNS
        if column in thought
    ]
    if "reasoning_details" in thought:
        reasoning.append(
            "CASE WHEN json_valid(m.reasoning_details) THEN EXISTS ("
            "SELECT 1 FROM json_tree(m.reasoning_details) AS leaf "
            "WHERE leaf.type = 'text' AND leaf.value LIKE ? ESCAPE '\\') "
            "ELSE COALESCE(m.reasoning_details, '') LIKE ? ESCAPE '\\' END"
        )
    return LikePeer(
        source=joined,
        rowid="m.id",
        said=said,
        thought=f"m.role = 'assistant' AND ({' OR '.join(reasoning)})",
        visible=visible,
        newest_first="m.timestamp DESC, m.id DESC",
    )
