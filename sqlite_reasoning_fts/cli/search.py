"""``reasoning-fts search``: ask an archive, reasoning included when asked for."""

from __future__ import annotations

import secrets
from datetime import datetime, timezone

import click
from rich.console import Console
from rich.text import Text

from ..archive import Archive
from ..designs import EVERY_NAME
from ..errors import UsageError
from ..printable import printable
from ..query import MATCHES, ORDERS, SCOPES, SYNTAXES
from ..results import SearchResult
from ..snippets import BRACKETS, Marks
from ..workers import MAX_WORKERS
from .options import json_option, opens_archive, print_json, quiet_option
from .progress import progress

ORIGINS = {
    "said": "said",
    "thought": "thought (the model thought this; it did not say it)",
    "both": "said and thought",
}


@click.command()
@opens_archive
@click.argument("query")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="said",
    show_default=True,
    help="What was said, what was thought, or both.",
)
@click.option(
    "--syntax",
    type=click.Choice(SYNTAXES),
    default="text",
    show_default=True,
    help="Plain words, or FTS5's grammar.",
)
@click.option("--match", type=click.Choice(MATCHES), default="words", show_default=True)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="rank",
    show_default=True,
    help="Best first or newest first.",
)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--in-role",
    "--roles",
    "roles",
    metavar="ROLE",
    multiple=True,
    help="Only rows of this role (may be repeated).",
)
@click.option("--in-session", "session", metavar="ID", help="Only rows of this session.")
@click.option("--since", metavar="TIME", help="Not before this time (ISO 8601 or Unix seconds).")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option(
    "--design",
    type=click.Choice(EVERY_NAME),
    help="Which design answers; one with an index is built in a scratch file.",
)
@click.option("--fold-sessions", is_flag=True, help="One hit a session.")
@click.option(
    "--workers",
    type=click.IntRange(1, MAX_WORKERS),
    default=1,
    show_default=True,
    help="Connections that scan the rows in parallel.",
)
@json_option
@quiet_option
def search(
    archive: Archive,
    query: str,
    scope: str,
    syntax: str,
    match: str,
    order: str,
    limit: int,
    roles: tuple[str, ...],
    session: str | None,
    since: str | None,
    until: str | None,
    design: str | None,
    fold_sessions: bool,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search FILE for QUERY. Reasoning is searched only when --scope asks for it."""
    # For the terminal's colours, marks that stand in no text.
    mark = secrets.token_hex(16)
    marks = BRACKETS if as_json else Marks(f"<{mark}>", f"</{mark}>")
    with progress(quiet or as_json or design is None) as report:
        found = archive.search(
            query,
            scope=scope,
            syntax=syntax,
            match=match,
            order=order,
            limit=limit,
            roles=roles or None,
            session=session,
            since=_seconds("--since", since),
            until=_seconds("--until", until),
            design=design,
            fold_sessions=fold_sessions,
            workers=workers,
            marks=marks,
            progress=report,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, marks)


def _seconds(option: str, value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(
            f"{option}: {value!r} is no time",
            "give 2026-01-31, 2026-01-31T12:00:00Z or Unix seconds",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _show(found: SearchResult, marks: Marks) -> None:
    console = Console(highlight=False)
    for number, hit in enumerate(found.hits, 1):
        when = (
            datetime.fromtimestamp(hit.created_at, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
            if hit.created_at is not None
            else "no time"
        )
        rank = "" if hit.rank is None else f"  rank {hit.rank:.4g}"
        default = {True: "", False: "  not in the default search", None: ""}[hit.in_default_search]
        head = Text(f"{number}. {printable(hit.key)}", style="bold")
        head.append(
            f"  session {printable(hit.session_id)}  {printable(hit.role or '-')}  {when}  "
            f"{ORIGINS[hit.origin]}{rank}{default}",
            style="not bold dim",
        )
        console.print(head, soft_wrap=True)
        console.print(_marked(hit.snippet, marks), soft_wrap=True)
    coverage = found.coverage
    if coverage.empty_because:
        console.print(f"No hits: {coverage.empty_because}.", markup=False)
    more = ", more match" if coverage.cut_by_limit else ""
    unreadable = (
        f", {coverage.rows_unreadable:,} rows have reasoning that cannot be read"
        if coverage.rows_unreadable
        else ""
    )
    console.print(
        f"{len(found.hits)} hits{more}; {coverage.rows_considered:,} rows considered by "
        f"{coverage.route} (design {found.design}, scope {found.scope}){unreadable}.",
        style="dim",
        markup=False,
        soft_wrap=True,
    )


def _marked(snippet: str, marks: Marks) -> Text:
    """The snippet on one line, its marks as colour."""
    text = Text("   ")
    for i, piece in enumerate(snippet.split(marks.open)):
        marked, _, rest = piece.partition(marks.close) if i else ("", "", piece)
        text.append(printable(marked), style="bold yellow")
        text.append(printable(rest))
    return text
