"""``reasoning-fts compare``: what each design costs and gives on one archive."""

from __future__ import annotations

import click
from rich.console import Console

from ..archive import Archive
from ..designs import EVERY_NAME
from ..report import markdown, terminal
from .options import json_option, opens_archive, print_json, queries_from, quiet_option, seed_option
from .progress import progress


@click.command()
@opens_archive
@click.option(
    "--design",
    "designs",
    type=click.Choice(EVERY_NAME),
    multiple=True,
    help="Compare this design (may be repeated; default: all).",
)
@click.option(
    "--queries",
    "queries_file",
    metavar="FILE",
    type=click.Path(),
    help="Ask these, one a line in FTS5's grammar (- for standard input).",
)
@seed_option
@click.option(
    "--repeat", type=click.IntRange(min=1), default=5, show_default=True, help="Timed runs a query."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown tables.")
@json_option
@quiet_option
def compare(
    archive: Archive,
    designs: tuple[str, ...],
    queries_file: str | None,
    seed: int,
    repeat: int,
    as_markdown: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Build the designs for FILE in a scratch file and measure bytes, build time and latency.

    Every answer is compared with that of a real FTS5 table; a design that differs makes the exit
    code 1 (like is listed for comparison only). The archive is only read. TMPDIR says where the
    scratch file goes.
    """
    with progress(quiet or as_json) as report:
        found = archive.compare(
            designs=designs or None,
            queries=queries_from(queries_file),
            seed=seed,
            repeat=repeat,
            progress=report,
        )
    if as_json:
        print_json(found.to_dict())
    elif as_markdown:
        click.echo(markdown(found))
    else:
        terminal(found, Console(highlight=False))
    return 0 if found.agrees else 1
