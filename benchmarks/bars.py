"""The bars that the project holds itself to, each a ratio of two things measured by turns.

A bar is reported whether it is reached or not; only a wrong answer fails a benchmark, for a machine
that is too slow or too busy is no fault of the code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .turns import Ratio, by_turns


@dataclass(frozen=True)
class Bar:
    """``what`` is a ratio; it should be at most, or at least, ``bound``."""

    what: str
    bound: float
    at_least: bool = False

    def reached(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.bound:g}"


def report(benchmark: Any, bar: Bar, measured: Ratio) -> None:
    """Notes a bar's figure beside the times of its benchmark."""
    figure = {**asdict(bar), **asdict(measured), "reached": bar.reached(measured.ratio)}
    benchmark.extra_info.setdefault("bars", []).append(figure)


def hold(
    benchmark: Any,
    bar: Bar,
    subject: Callable[[], object],
    limit: Callable[[], object],
    *,
    rounds: int = 9,
) -> None:
    """Measures a bar: the time of the subject over that of the limit, or, where the bar asks for
    at least so much, of the limit over the subject."""
    found = by_turns(benchmark, subject, {"bar": limit}, rounds=rounds)
    if found:
        one = found["bar"]
        if bar.at_least:
            one = Ratio(1 / one.ratio, 1 / one.high, 1 / one.low, one.pairs)
        report(benchmark, bar, one)
