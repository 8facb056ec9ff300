"""How long the queries take, warm: every run returns the first rows of the answer, in order.

A run is what a search does up to the rows: asking the design, visibility, order and limit; neither
parsing nor snippets. Runs of different queries alternate, so that a disturbance does not fall on
one alone. A design that is so slow that five rounds would take minutes gets fewer; ``runs`` says
how many.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

from ..designs import Design
from ..progress import Progress
from ..reader import Reader
from ..results import Disagreement, Latency
from ..selection import Selected, ordered
from .agreement import LIMIT, Agreement, newest_difference, whole_difference
from .oracle import Answers
from .workload import WorkloadQuery, by_turns

Cell = tuple[str, str, WorkloadQuery]  # order, scope, query

SCOPES = ("thought", "all")
ORDERS = ("newest", "rank")
SECONDS_PER_DESIGN = 5.0
"""A round is begun only while the rounds before it took less. LIKE's first round is cut there."""


@dataclass(frozen=True)
class Measured:
    """Times, and what of the answers was wrong."""

    latency: tuple[Latency, ...]
    agreement: Agreement


def measure(design: Design, answers: Answers, repeat: int, progress: Progress | None) -> Measured:
    """Times every query in both orders, and compares the answers of the first round.

    In order of rank the first run goes on after its first rows, off the clock, so that all of its
    rows are compared.
    """
    like = design.name == "like"
    cells: list[Cell] = [
        (order, scope, item)
        for scope in SCOPES
        for order in (("newest",) if like else ORDERS)
        for item in by_turns(answers.workload)
    ]
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    wrong: list[Disagreement] = []
    checked = 0
    started = time.perf_counter()
    for turn in range(repeat):
        if time.perf_counter() - started > SECONDS_PER_DESIGN:
            break
        for done, cell in enumerate(cells):
            if like and time.perf_counter() - started > SECONDS_PER_DESIGN:
                break
            if progress:
                progress(turn * len(cells) + done, repeat * len(cells), f"timing {design.name}")
            order, scope, item = cell
            whole = turn == 0 and order == "rank"
            milliseconds, rows = _run(design, answers.reader, cell, whole=whole)
            times[cell].append(milliseconds)
            if turn == 0 and not like:
                checked += 1
                difference = (
                    whole_difference(answers, item, scope, rows, ranked=True)
                    if whole
                    else newest_difference(answers, item, scope, rows)
                )
                if difference is not None:
                    wrong.append(Disagreement(design.name, scope, order, item.text, *difference))
    if progress:
        progress(repeat * len(cells), repeat * len(cells), f"timing {design.name}")
    latency = (
        _latency(design.name, cell, times[cell], len(answers.newest[cell[2].text, cell[1]]))
        for cell in cells
        if times[cell]
    )
    return Measured(tuple(latency), Agreement(checked, tuple(wrong)))


def _run(
    design: Design, reader: Reader, cell: Cell, *, whole: bool
) -> tuple[float, list[Selected]]:
    """One run: the milliseconds until the first rows are there, and the rows."""
    order, scope, item = cell
    rows: list[Selected] = []
    begun = time.perf_counter()
    taken = None
    matches = design.matches(item.query, scope, ranked=order == "rank")
    for row in ordered(reader, matches, order, limit=None if whole else LIMIT):
        rows.append(row)
        if len(rows) == LIMIT:
            taken = time.perf_counter() - begun
    return (time.perf_counter() - begun if taken is None else taken) * 1000.0, rows


def _latency(design: str, cell: Cell, times: list[float], hits: int) -> Latency:
    order, scope, item = cell
    low, high = min(times), max(times)
    if len(times) > 1:
        low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return Latency(
        design=design,
        kind=item.kind,
        order=order,
        scope=scope,
        query=item.text,
        median_ms=statistics.median(times),
        p25_ms=low,
        p75_ms=high,
        runs=len(times),
        hits=hits,
    )
