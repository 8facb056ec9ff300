"""A comparison as tables, for a terminal and as Markdown; both show the same cells."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .compare.summary import megabytes, milliseconds
from .compare.workload import KINDS
from .printable import printable
from .results import Comparison, Latency

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_DISAGREEMENTS = 10
SHOWN_QUERIES = 3

SCOPE_TITLES = {"thought": "over the reasoning", "all": "over content and reasoning together"}
ORDER_TITLES = {"newest": "newest 20", "rank": "best 20 by rank"}


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column is a label, the others are figures."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(found: Comparison) -> Iterator[Table]:
    """All tables of a comparison, in order of interest."""
    yield _designs(found)
    for scope in SCOPE_TITLES:
        for order in ORDER_TITLES:
            entries = [e for e in found.latency if (e.scope, e.order) == (scope, order)]
            if entries:
                yield _latency(entries, scope, order)
    if found.default_search:
        yield _default_search(found)
    if found.disagreements:
        yield _disagreements(found)


def _designs(found: Comparison) -> Table:
    rows = []
    for cost in found.designs:
        index = "-" if cost.growth_of_index is None else f"{cost.growth_of_index:+.1%}"
        agrees = "yes" if cost.agrees else ("no (LIKE)" if cost.name == "like" else "NO")
        rows.append(
            (
                cost.name,
                megabytes(cost.bytes) if cost.bytes else "0",
                index,
                f"{cost.growth_of_file:+.1%}",
                f"{cost.build_seconds:.2f} s" if cost.build_seconds else "-",
                agrees,
            )
        )
    return Table(
        "What each design stores",
        ("design", "bytes", "agent's index", "file", "build", "agrees with FTS5"),
        tuple(rows),
    )


def _latency(entries: list[Latency], scope: str, order: str) -> Table:
    designs = list(dict.fromkeys(entry.design for entry in entries))
    rows = []
    for kind in KINDS:
        cells = []
        for design in designs:
            times = [e for e in entries if (e.kind, e.design) == (kind, design)]
            cells.append(_spread(times))
        if any(cell != "-" for cell in cells):
            rows.append((kind, *cells))
    return Table(
        f"Latency {SCOPE_TITLES[scope]}, {ORDER_TITLES[order]}: median of the queries (quartiles)",
        ("kind", *designs),
        tuple(rows),
    )


def _spread(times: list[Latency]) -> str:
    """The median over a kind's queries; with it the quartiles of the runs, likewise."""
    if not times:
        return "-"
    low, middle, high = (
        statistics.median(getattr(entry, name) for entry in times)
        for name in ("p25_ms", "median_ms", "p75_ms")
    )
    return milliseconds(middle, low, high)


def _default_search(found: Comparison) -> Table:
    rows = []
    for entry in found.default_search:
        shown = "; ".join(entry.changed_top10[:SHOWN_QUERIES])
        more = len(entry.changed_top10) - SHOWN_QUERIES
        rows.append(
            (
                f"{entry.design}, {entry.ranker}",
                *(
                    "same" if same else "CHANGED"
                    for same in (entry.same_rows, entry.same_order, entry.same_ranks)
                ),
                f"{shown} and {more} more" if more > 0 else shown or "-",
            )
        )
    return Table(
        "The agent's default search with the thought as a column of its index",
        ("design, ranker", "rows", "order", "ranks", "queries whose first ten changed"),
        tuple(rows),
    )


def _disagreements(found: Comparison) -> Table:
    """Faults first; LIKE's own, which are expected, are counted and sampled."""
    entries = sorted(found.disagreements, key=lambda d: d.design == "like")
    rows = [
        (d.design, d.scope, d.order, d.query, d.what, f"{d.expected} / {d.found}")
        for d in entries[:SHOWN_DISAGREEMENTS]
    ]
    return Table(
        f"Answers that differ from FTS5's: {len(entries)}, of which "
        f"{sum(d.design == 'like' for d in entries)} are LIKE's"
        + (f"; the first {SHOWN_DISAGREEMENTS}" if len(entries) > SHOWN_DISAGREEMENTS else ""),
        ("design", "scope", "order", "query", "what", "expected / found"),
        tuple(rows),
    )


def heading(found: Comparison) -> str:
    """One line on what was measured."""
    info = found.archive
    return (
        f"{info.path}: {info.agent}, {megabytes(info.bytes)}, {found.oracle.rows:,} rows, "
        f"SQLite {found.oracle.sqlite_version}, {found.oracle.queries} queries, seed {found.seed}, "
        f"{found.seconds:.0f} s"
    )


def terminal(found: Comparison, console: Console) -> None:
    """Prints the comparison."""
    from rich.table import Table as RichTable
    from rich.text import Text

    console.print(heading(found), markup=False, soft_wrap=True)
    for table in tables(found):
        console.print()
        shown = RichTable(title=table.title, title_justify="left", title_style="bold")
        for number, name in enumerate(table.header):
            figures = number > 0 and table.header[0] in ("design", "kind")
            shown.add_column(name, justify="right" if figures else "left", overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(printable(cell)) for cell in row))
        console.print(shown)
    console.print()
    for sentence in found.summary:
        console.print(sentence, markup=False, soft_wrap=True)


def markdown(found: Comparison) -> str:
    """The comparison in GitHub's Markdown."""
    lines = [heading(found)]
    for table in tables(found):
        lines += ["", f"**{table.title}**", ""]
        lines.append("| " + " | ".join(map(_escaped, table.header)) + " |")
        figures = table.header[0] in ("design", "kind")
        lines.append(
            "|"
            + "|".join(["---"] + [("--:" if figures else "---")] * (len(table.header) - 1))
            + "|"
        )
        lines += ["| " + " | ".join(map(_escaped, row)) + " |" for row in table.rows]
    return "\n".join([*lines, "", *found.summary])


def _escaped(cell: str) -> str:
    return printable(cell).replace("|", "\\|")
