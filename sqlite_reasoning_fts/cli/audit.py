"""``reasoning-fts audit``: measure the hole before calling it one."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..archive import Archive
from ..compare.summary import megabytes
from ..printable import printable
from ..results import AuditReport
from .options import json_option, opens_archive, print_json, queries_from, quiet_option, seed_option
from .progress import progress


@click.command()
@opens_archive
@click.option("--token", metavar="WORD", help="Walk the agent's routes with this word.")
@click.option(
    "--queries",
    "queries_file",
    metavar="FILE",
    type=click.Path(),
    help="Measure the gap over these queries, one a line (- for standard input).",
)
@seed_option
@json_option
@quiet_option
def audit(
    archive: Archive,
    token: str | None,
    queries_file: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure what the agent's own search in FILE cannot reach.

    Counts the rows that hold reasoning, then follows tokens that stand only in reasoning along
    every route that the agent's search has, with SQL to paste into a shell. Finding the hole is
    no failure: the exit code is 0.
    """
    with progress(quiet or as_json) as report:
        found = archive.audit(token, queries=queries_from(queries_file), seed=seed, progress=report)
    if as_json:
        print_json(found.to_dict())
        return
    _show(found, archive.notes)


def _show(found: AuditReport, notes: tuple[str, ...]) -> None:
    console = Console(highlight=False)
    info = found.archive
    console.print(
        f"{info.path}: {info.agent}"
        + (f", schema {info.schema_version}" if info.schema_version else "")
        + f", {megabytes(info.bytes)}, journal {info.journal_mode}, SQLite {info.sqlite_version}",
        markup=False,
        soft_wrap=True,
    )
    for note in notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(justify="right")
    share = f"{found.rows_with_reasoning / found.rows:.1%}" if found.rows else "-"
    ratio = f"{found.ratio:.1%}" if found.ratio is not None else "-"
    for label, value in (
        ("rows", f"{found.rows:,}"),
        ("rows with reasoning", f"{found.rows_with_reasoning:,} ({share})"),
        ("characters of reasoning", f"{found.reasoning_characters:,}"),
        ("characters of indexed content", f"{found.content_characters:,}"),
        ("reasoning / content", ratio),
        ("turns with reasoning and no visible text", f"{found.turns_reasoning_only:,}"),
        ("rows whose reasoning cannot be read (encrypted, redacted)", f"{found.rows_unreadable:,}"),
        ("rows that hold the same reasoning twice", f"{found.rows_duplicate:,}"),
        ("rows whose session is gone", f"{found.rows_orphaned:,}"),
    ):
        table.add_row(label, value)
    console.print(table)
    _show_routes(console, found)
    gap = found.queries
    console.print()
    if gap.sampled and gap.hit_content is not None:
        console.print(
            f"Of {gap.sampled} sampled (query, row) pairs, the default search returns "
            f"{gap.hit_content:.1%}, some scope returns {gap.hit_any:.1%}: a gap of {gap.gap:.1%}.",
            soft_wrap=True,
        )
    else:
        console.print("No (query, row) pair to sample: no row has readable reasoning.")


def _show_routes(console: Console, found: AuditReport) -> None:
    """Rows found by each route for each token, then the statements for the first token."""
    if not found.routes:
        console.print("\nNo token that stands only in reasoning was found, or no route is known.")
        return
    tokens = list(dict.fromkeys(route.token for route in found.routes))
    counts = {(route.name, route.token): route.count for route in found.routes}
    table = Table(title="Rows that the agent's own routes return", title_justify="left")
    table.add_column("route")
    for token in tokens:
        table.add_column(Text(printable(token)), justify="right")
    for name in dict.fromkeys(route.name for route in found.routes):
        table.add_row(name, *(f"{counts[name, token]:,}" for token in tokens))
    console.print()
    console.print(table)
    console.print(
        f"\nThe statements for “{printable(tokens[0])}” (all of them: --json):", markup=False
    )
    for route in found.routes:
        if route.token == tokens[0]:
            console.print(f"-- {route.name}: {route.count:,}", markup=False, soft_wrap=True)
            console.print(printable(route.sql), markup=False, style="dim", soft_wrap=True)
