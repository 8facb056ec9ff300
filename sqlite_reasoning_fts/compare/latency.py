"""How long the queries take, warm: every run returns the first rows of the answer, in order.

A run is what a search does up to the rows: asking the design, visibility, order and limit; neither
parsing nor snippets. Runs of different queries alternate, so that a disturbance does not fall on
one alone. A design that is so slow that five rounds would take minutes gets fewer; ``runs`` says
how many.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from ..designs import Design
from ..results import Disagreement, Latency
from ..selection import select
from .agreement import first_keys
from .oracle import Answers
from .workload import WorkloadQuery, by_turns

Progress = Callable[[int, int, str], None]
Cell = tuple[str, str, WorkloadQuery]  # order, scope, query

LIMIT = 20
SCOPES = ("thought", "all")
ORDERS = ("newest", "rank")
SECONDS_PER_DESIGN = 15.0
"""A round is begun only while the rounds before it took less."""


def measure(
    design: Design, answers: Answers, repeat: int, progress: Progress | None
) -> tuple[list[Latency], list[Disagreement]]:
    """Times every query in both orders; each answer is compared with the oracle's first rows."""
    orders = ("newest",) if design.name == "like" else ORDERS
    cells = [
        (order, scope, item)
        for scope in SCOPES
        for order in orders
        for item in by_turns(answers.workload)
    ]
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    found: dict[Cell, int] = {}
    wrong: list[Disagreement] = []
    started = time.perf_counter()
    for turn in range(repeat):
        for done, cell in enumerate(cells):
            spent = time.perf_counter() - started
            if spent > SECONDS_PER_DESIGN and (turn > 0 or design.name == "like"):
                break
            if progress:
                progress(turn * len(cells) + done, repeat * len(cells), f"timing {design.name}")
            order, scope, item = cell
            begun = time.perf_counter()
            matches = design.matches(item.query, scope, ranked=order == "rank")
            rows = select(answers.reader, matches, order=order, limit=LIMIT).rows
            times[cell].append((time.perf_counter() - begun) * 1000.0)
            if turn == 0:
                expected = answers.newest[item.text, scope]
                if order == "rank":
                    expected = tuple(key for key, _ in answers.ranked[item.text, scope])
                found[cell] = len(expected)
                difference = first_keys(expected, rows)
                comparable = order == "newest" or item.query.has_stable_ranks
                if difference is not None and comparable and design.name != "like":
                    wrong.append(Disagreement(design.name, scope, order, item.text, *difference))
    if progress:
        progress(repeat * len(cells), repeat * len(cells), f"timing {design.name}")
    return [
        _latency(design.name, cell, times[cell], found[cell]) for cell in cells if times[cell]
    ], wrong


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
