"""Makes reports of runs: ``python -m benchmarks.report --help``."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import click

from . import tables
from .results import FOLDER, Results, collect, latest, load, pairs

ROOT = Path(__file__).resolve().parent.parent

BLOCKS: dict[str, Callable[[Results], str]] = {
    "bars": tables.bars,
    "latency": lambda results: tables.latency(
        results, "newest", "thought", ("rare", "common", "phrase")
    ),
    "indexes": tables.build,
    "cold": tables.cold,
}
"""Tables that pages of the project show, by the name between their marks."""

PAGES = ("README.md", "docs/designs.md", "benchmarks/METHODOLOGY.md")


def blocks_of(text: str) -> list[str]:
    """The names of the tables that a page shows."""
    return [name for name in BLOCKS if _mark(name, "begin") in text]


def filled(text: str, results: Results) -> str:
    """A page with its tables made anew."""
    for name in blocks_of(text):
        begin, end = _mark(name, "begin"), _mark(name, "end")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{BLOCKS[name](results)}\n{end}{after}"
    return text


def _mark(name: str, which: str) -> str:
    return f"<!-- measured:{name}:{which} -->"


@click.group()
def main() -> None:
    """Results of the benchmark suite."""


@main.command()
@click.argument("measured", type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Default: results/DATE.json.")
def keep(measured: Path, out: Path | None) -> None:
    """Keep what pytest --benchmark-json wrote to MEASURED, with a report beside it."""
    results = collect(measured)
    target = out or FOLDER / f"{results.machine['date']}.json"
    results.write(target)
    target.with_suffix(".md").write_text(tables.whole(results), encoding="utf-8")
    click.echo(f"{target}: {len(results.cases)} cases, {len(results.bars)} bars")


@main.command()
@click.argument("results", type=click.Path(exists=True, path_type=Path), required=False)
def show(results: Path | None) -> None:
    """Print the report of RESULTS, by default the latest, as Markdown."""
    click.echo(tables.whole(load(results or latest())))


@main.command()
def pages() -> None:
    """Make the tables of the project's pages anew from the latest results."""
    results = load(latest())
    for name in PAGES:
        path = ROOT / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            path.write_text(filled(text, results), encoding="utf-8")
            click.echo(f"{name}: {', '.join(blocks_of(text)) or 'no tables'}")


@main.command()
@click.argument("first", type=click.Path(exists=True, path_type=Path))
@click.argument("second", type=click.Path(exists=True, path_type=Path))
@click.option("--within", default=0.10, show_default=True, help="How far ratios may lie apart.")
def repeat(first: Path, second: Path, within: float) -> None:
    """Compare the ratios of two runs; exit 1 where any lies further apart than asked for."""
    found = sorted(
        ((abs(b / a - 1), name, a, b) for name, a, b in pairs(load(first), load(second))),
        reverse=True,
    )
    if not found:
        raise click.ClickException("the two runs have no ratio in common")
    apart = [one for one in found if one[0] > within]
    for difference, name, a, b in found[: max(10, len(apart))]:
        click.echo(f"{difference:7.1%}  {tables.figure(a)} {tables.figure(b)}  {name}")
    click.echo(
        f"{len(found)} ratios, median {statistics.median(one[0] for one in found):.1%} apart; "
        f"{len(apart)} more than {within:.0%}"
    )
    sys.exit(1 if apart else 0)


if __name__ == "__main__":
    main()
