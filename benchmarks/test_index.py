"""The bars of the indexes without positions: bytes, rare terms, the phrase set."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from sqlite_reasoning_fts.compare import building

from .bars import Bar, hold, report
from .corpus import REFERENCE_NAME
from .measured import Measured
from .phrases import phrase_set
from .turns import ratio, seconds

pytestmark = pytest.mark.corpora(REFERENCE_NAME)

SHARE_OF_FULL = {"terms": 0.33, "blocks": 0.23, "blocks-64": 0.18, "blocks-256": 0.13}
FASTER_THAN_SCAN = {"terms": 1000, "blocks": 50, "blocks-64": 50, "blocks-256": 20}
TIMES_FULL = {"rank": 4, "newest": 8}


@pytest.mark.parametrize("design", SHARE_OF_FULL)
def test_bytes(described: Any, measured: Measured, design: str) -> None:
    def sizes() -> tuple[int, int]:
        built = measured.built
        return built[building.TABLE_OF[design]].bytes, built[building.FULL].bytes

    own, full = described.pedantic(sizes)
    report(described, Bar(f"{design}: bytes / bytes of full", SHARE_OF_FULL[design]),
           ratio([(own, full)]))  # fmt: skip


@pytest.mark.parametrize("design", FASTER_THAN_SCAN)
def test_rare_term(described: Any, measured: Measured, design: str) -> None:
    items = measured.queries("rare")

    def asked(name: str) -> Callable[[], None]:
        chosen = measured.design(name)
        for item in items:
            measured.check(chosen, item, "thought", "newest")

        def ask() -> None:
            for item in items:
                measured.ask(chosen, item, "thought", "newest")

        return ask

    bar = Bar(f"scan / {design}, a rare term, newest 20", FASTER_THAN_SCAN[design], at_least=True)
    hold(described, bar, asked(design), asked("scan"))


@pytest.mark.parametrize("order", TIMES_FULL)
def test_phrase_set(described: Any, measured: Measured, order: str) -> None:
    """The median of the phrases' times against that of ``full``, round by round."""
    items = phrase_set(measured)
    designs = [measured.design(name) for name in ("terms", "full")]
    for design in designs:
        for item in items:
            measured.check(design, item, "thought", order)
    medians: list[tuple[float, float]] = []

    def once() -> None:
        times: list[tuple[float, ...]] = [
            tuple(
                seconds(lambda d=design, i=item: measured.ask(d, i, "thought", order))
                for design in designs
            )
            for item in items
        ]
        own, full = (statistics.median(side) for side in zip(*times, strict=True))
        medians.append((own, full))

    described.pedantic(once, rounds=measured.rounds, warmup_rounds=1)
    bar = Bar(f"terms / full, the phrase set, {order}, medians", TIMES_FULL[order])
    report(described, bar, ratio(medians))
