"""Times that can be compared: subject and limit by turns, a warm cache, the median of the ratios.

A machine slows down and speeds up while a suite runs, so times of different minutes say little
about each other. Each round of a case runs its limit first and then the subject; the ratio of the
two is taken round by round. pytest-benchmark keeps the subject's times, ``extra_info`` the rest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SHORTEST_ROUND_SECONDS = 0.02
MOST_REPEATS = 200


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of pairs, with their quartiles."""

    ratio: float
    low: float
    high: float
    pairs: int


def ratio(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Of pairs of times; one pair is its own quartiles."""
    ratios = sorted(a / b for a, b in pairs)
    low = high = middle = statistics.median(ratios)
    if len(ratios) > 1:
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Ratio(middle, low, high, len(ratios))


def seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def by_turns(
    benchmark: Any,
    subject: Callable[[], object],
    limits: dict[str, Callable[[], object]],
    *,
    rounds: int,
    fewest: int = 3,
    budget_seconds: float = 10.0,
) -> dict[str, Ratio]:
    """Runs the subject under pytest-benchmark, each limit once before each of its rounds.

    A short subject is repeated within a round, and after a limit has filled the processor's caches
    it runs once off the clock; a long one fills them anew by itself. ``repeats`` in ``extra_info``
    divides its times. Fewer rounds are made where they would take longer than the budget. Gives
    the ratio to each limit.
    """
    if benchmark.disabled:
        benchmark.pedantic(subject)
        return {}
    subject()
    once = seconds(subject)
    repeats = max(1, min(MOST_REPEATS, round(SHORTEST_ROUND_SECONDS / max(once, 1e-7))))
    warmed = repeats > 1
    limit_once = sum(seconds(limit) for limit in limits.values())
    round_seconds = once * (repeats + warmed) + limit_once
    rounds = max(fewest, min(rounds, int(budget_seconds / round_seconds)))
    taken: dict[str, list[float]] = {name: [] for name in limits}

    def before() -> None:
        for name, limit in limits.items():
            taken[name].append(seconds(limit))
        if warmed:
            subject()

    def repeated() -> None:
        for _ in range(repeats):
            subject()

    benchmark.pedantic(repeated, setup=before, rounds=rounds)
    times = [one / repeats for one in benchmark.stats.stats.data]
    ratios = {
        name: ratio(list(zip(times, its[-len(times) :], strict=True)))
        for name, its in taken.items()
    }
    benchmark.extra_info["repeats"] = repeats
    benchmark.extra_info["seconds"] = statistics.median(times)
    benchmark.extra_info["ratios"] = {name: asdict(one) for name, one in ratios.items()}
    benchmark.extra_info["limits"] = {name: statistics.median(its) for name, its in taken.items()}
    return ratios
