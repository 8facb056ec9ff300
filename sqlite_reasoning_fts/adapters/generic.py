"""Any table or view that holds messages: the user names the columns."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ..database import Database, quote_name
from ..decoding import decoded, is_unreadable, joined_once, unix_seconds
from ..errors import FileError, UsageError
from ..projection import Projection, said_names
from .base import Adapter, LikePeer, RouteTemplate


@dataclass(frozen=True)
class Columns:
    """Where the parts of a message stand, as the user names them."""

    table: str
    key: str | None = None
    said: tuple[str, ...] = ()
    thought: tuple[str, ...] = ()
    session: str | None = None
    role: str | None = None
    time: str | None = None


def describe(database: Database, columns: Columns) -> Adapter:
    """The adapter for a table; raises where a column is missing or a row has no identity."""
    for named in (columns.said, columns.thought):
        if len({name.lower() for name in named}) < len(named):
            raise UsageError(
                f"table {columns.table}: a column is named twice: {', '.join(named)}",
                "name each column once",
            )
    if not columns.thought:
        raise UsageError(
            f"table {columns.table}: no column with reasoning is named",
            "name it with --thought COLUMN (thought=[...] in Python)",
        )
    found = database.columns_of(columns.table)
    if not found:
        raise FileError(
            "missing_table",
            f"{database.path}: no table or view {columns.table}",
            f"it has: {', '.join(tables(database)) or 'none'}",
        )
    names = {name.lower(): name for name in found}
    for wanted in (*columns.said, *columns.thought, columns.session, columns.role, columns.time):
        if wanted is not None:
            _check_column(database, columns.table, wanted, names)
    rowid, key, source, setup = _identity(database, columns, names)
    thought = [f"t.{quote_name(c)}" for c in columns.thought]
    projection = Projection(
        source=source,
        rowid=rowid,
        key=key,
        session=_or_null(columns.session),
        role=_or_null(columns.role),
        time=unix_seconds(f"t.{quote_name(columns.time)}") if columns.time else "NULL",
        said=tuple(
            (name, f"COALESCE({decoded(f't.{quote_name(column)}')}, '')")
            for name, column in zip(said_names(columns.said), columns.said, strict=True)
        ),
        thought=_thought(thought),
        unreadable=(
            f"(({' OR '.join(map(is_unreadable, thought))}) AND ({_thought(thought)}) IS NULL)"
        ),
        duplicate=_duplicate(thought),
        content_empty=" AND ".join(f"COALESCE(t.{quote_name(c)}, '') = ''" for c in columns.said)
        or "1",
        said_stored=tuple(f"t.{quote_name(column)}" for column in columns.said),
        thought_stored=tuple(thought),
    )
    return Adapter(
        agent="generic",
        schema_version=None,
        projection=projection,
        own_index=None,
        routes=_routes(database, columns),
        like=_like(projection, columns, thought),
        default_search=None,
        thought_columns=columns.thought,
        setup=setup,
        teardown=setup[:1],
        notes=("no index of the agent's own is known: the said columns are read row by row",),
    )


def tables(database: Database) -> list[str]:
    """The tables and views of the archive, without SQLite's own and FTS5's shadow tables."""
    rows = database.all(
        "SELECT name FROM pragma_table_list WHERE schema = ? AND type IN ('table', 'view', "
        "'virtual') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name",
        (database.schema,),
    )
    return [str(row[0]) for row in rows]


def _check_column(database: Database, table: str, wanted: str, names: dict[str, str]) -> None:
    if wanted.lower() in names:
        return
    near = difflib.get_close_matches(wanted.lower(), names, 1)
    guess = f"did you mean {names[near[0]]}? " if near else ""
    raise FileError(
        "missing_column",
        f"{database.path}: {table} has no column {wanted}",
        f"{guess}it has: {', '.join(names.values())}",
    )


def _identity(
    database: Database, columns: Columns, names: dict[str, str]
) -> tuple[str, str, str, tuple[str, ...]]:
    """The rowid and key expressions, the FROM clause, and the set-up they need."""
    table = database.table(columns.table)
    kind, without_rowid = database.all(
        "SELECT type, wr FROM pragma_table_list WHERE schema = ? AND name = ? COLLATE NOCASE",
        (database.schema, columns.table),
    )[0]
    rowid_name = next((n for n in ("rowid", "_rowid_", "oid") if n not in names), None)
    has_rowid = kind != "view" and not without_rowid and rowid_name is not None
    if columns.key is None or (has_rowid and columns.key.lower() == rowid_name):
        if not has_rowid:
            what = {"view": "a view"}.get(kind, "a table without a rowid that can be named")
            raise FileError(
                "no_key",
                f"{database.path}: {columns.table} is {what}, so its rows have no identity",
                "name the column that identifies a row with --key COLUMN",
            )
        return f"t.{rowid_name}", f"t.{rowid_name}", f"{table} AS t", ()
    _check_column(database, columns.table, columns.key, names)
    key = quote_name(columns.key)
    _check_key(database, columns, table, key)
    if has_rowid:
        return f"t.{rowid_name}", f"t.{key}", f"{table} AS t", ()
    if not database.value(f"SELECT 1 FROM {table} WHERE typeof({key}) <> 'integer' LIMIT 1"):
        return f"t.{key}", f"t.{key}", f"{table} AS t", ()
    # The rows have no integer of their own: a temporary table numbers them, by its own rowid. It is
    # filled as it is made, since an INSERT would begin a transaction on some hosts' connections.
    numbers = database.free_temporary_name("reasoning_numbers")
    setup = (
        f"DROP TABLE IF EXISTS temp.{numbers}",
        # In an order without ties, so that every connection gives a row the same number.
        f"CREATE TEMP TABLE {numbers} AS "
        f"SELECT {key} AS key FROM {table} ORDER BY {key} COLLATE BINARY",
    )
    source = f"temp.{numbers} AS n CROSS JOIN {table} AS t ON t.{key} = n.key"
    return "n.rowid", "n.key", source, setup


def _check_key(database: Database, columns: Columns, table: str, key: str) -> None:
    bad = database.all(
        f"SELECT quote(CAST({key} AS TEXT)), typeof({key}), count(*) FROM {table} "
        f"GROUP BY {key} COLLATE BINARY "
        f"HAVING count(*) > 1 OR typeof({key}) IN ('null', 'blob') LIMIT 1"
    )
    if bad:
        value, kind, count = bad[0]
        what = f"{value} stands in {count} rows" if count > 1 else f"a value is a {kind.upper()}"
        raise FileError(
            "no_key",
            f"{database.path}: {columns.table}.{columns.key} does not identify a row: {what}",
            "name a column with unique integers or texts",
        )


def _or_null(column: str | None) -> str:
    return f"t.{quote_name(column)}" if column else "NULL"


def _thought(columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"nullif({decoded(columns[0])}, '')"
    return joined_once([decoded(column) for column in columns])


def _duplicate(columns: Sequence[str]) -> str:
    pairs = [
        f"({decoded(b)}) = ({decoded(a)})" for i, a in enumerate(columns) for b in columns[i + 1 :]
    ]
    return f"COALESCE({' OR '.join(pairs) or '0'}, 0)"


def _routes(database: Database, columns: Columns) -> tuple[RouteTemplate, ...]:
    if not columns.said:
        return ()
    condition = " OR ".join(f"{quote_name(c)} LIKE ? ESCAPE '\\'" for c in columns.said)
    return (
        RouteTemplate(
            "LIKE over the said columns",
            f"SELECT count(*) FROM {database.table(columns.table)} WHERE {condition}",
            ("like",) * len(columns.said),
        ),
    )


def _like(projection: Projection, columns: Columns, thought: Sequence[str]) -> LikePeer:
    said = [f"t.{quote_name(c)}" for c in columns.said]
    return LikePeer(
        source=projection.source,
        rowid=projection.rowid,
        said=" OR ".join(f"COALESCE({c}, '') LIKE ? ESCAPE '\\'" for c in said) or "0",
        thought=" OR ".join(f"COALESCE({c}, '') LIKE ? ESCAPE '\\'" for c in thought),
        visible="1",
        newest_first=f"{projection.time} DESC, {projection.key} DESC",
    )
