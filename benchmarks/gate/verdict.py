"""From ratios to a verdict: the median, its bootstrap interval, and what may be said of it.

The bootstrap is the percentile method over clusters (B. Efron and R. Tibshirani, An Introduction to
the Bootstrap, 1993, chapters 8 and 13): blocks are drawn with replacement, then pairs within each.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

DRAWS = 2000
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Interval:
    """The median of the ratios, and what it lies between with a confidence of 99 %."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """Of one case. ``kind`` is ``same``, ``slower``, ``faster``, ``new`` or ``different``."""

    case: str
    kind: str
    interval: Interval | None = None
    why: str = ""

    @property
    def fails(self) -> bool:
        return self.kind in ("slower", "different")


def interval(blocks: Sequence[Sequence[float]], seed: int) -> Interval:
    """Of the median of all ratios."""
    random_ = random.Random(seed)
    medians = []
    for _ in range(DRAWS):
        drawn: list[float] = []
        for block in random_.choices(blocks, k=len(blocks)):
            drawn += random_.choices(block, k=len(block))
        medians.append(statistics.median(drawn))
    medians.sort()
    cut = round((1 - CONFIDENCE) / 2 * (DRAWS - 1))
    middle = statistics.median(ratio for block in blocks for ratio in block)
    return Interval(middle, medians[cut], medians[-1 - cut])


def kind_of(found: Interval, threshold: float) -> str:
    """Slower, or faster, only where the whole interval lies past the threshold."""
    if found.low > 1 + threshold:
        return "slower"
    if found.high < 1 / (1 + threshold):
        return "faster"
    return "same"
