"""``reasoning-fts demo``: an archive to try everything on."""

from __future__ import annotations

import click
from rich.console import Console

from ..compare.summary import megabytes
from .options import json_option, print_json, quiet_option
from .progress import progress


@click.command()
@click.option(
    "--scale",
    type=float,
    default=0.05,
    show_default=True,
    help="1 is the size of the reference archive: 289,433 rows.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(),
    default="reasoning-demo.db",
    show_default=True,
    help="Where the archive goes.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the text.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
@quiet_option
def demo(scale: float, out: str, seed: int, force: bool, as_json: bool, quiet: bool) -> None:
    """Generate an archive as Hermes Agent writes it, in the proportions of a real one.

    The text is cut from the sources and documentation of Python's standard library, so that
    indexes have realistic sizes. Then try: reasoning-fts compare FILE.
    """
    from ..demo import generate

    with progress(quiet or as_json) as report:
        made = generate(out, scale=scale, seed=seed, force=force, progress=report)
    if as_json:
        print_json(made.to_dict())
        return
    Console(highlight=False).print(
        f"{made.path}: {made.rows:,} rows, {made.rows_with_reasoning:,} with reasoning "
        f"({made.reasoning_characters:,} characters), {made.content_characters:,} characters of "
        f"content, {megabytes(made.bytes)}, in {made.seconds:.1f} s",
        markup=False,
        soft_wrap=True,
    )
