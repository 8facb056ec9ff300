"""How long the first query takes in a new process, when no page of the files is in memory."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import cache, cold
from .measured import MMAP_BYTES, Measured, WrongAnswer
from .test_latency import by_design, by_order

COLD_KINDS = ("rare", "common", "phrase")
ROUNDS = 3

pytestmark = pytest.mark.skipif(
    not hasattr(os, "posix_fadvise"), reason="this system cannot be asked to forget a file"
)


@pytest.fixture
def unmapped(measured: Measured) -> Iterator[Measured]:
    """Without the mappings of this process, for the kernel keeps what somebody has mapped."""
    _map(measured, 0)
    yield measured
    _map(measured, MMAP_BYTES)


def _map(measured: Measured, size: int) -> None:
    for schema in ("main", "archive"):
        measured.reader.database.run(f"PRAGMA {schema}.mmap_size = {size}")


@by_order
@pytest.mark.parametrize("kind", COLD_KINDS)
@by_design
def test_first_query(
    described: Any, unmapped: Measured, design: str, kind: str, order: str
) -> None:
    items = unmapped.queries(kind)
    if not items:
        pytest.skip(f"the corpus is too small to have a query of the kind {kind}")
    item = items[0]
    unmapped.check(unmapped.design(design), item, "thought", order)
    expected = unmapped.keys(item, "thought", order)
    times: list[float] = []
    kept: list[int] = []

    def forget() -> None:
        files = unmapped.path, Path(unmapped.bench.path)
        cache.drop(*files)
        kept.append(cache.resident(*files))

    def ask() -> None:
        seconds, keys = cold.ask(unmapped, design, item.text, order)
        times.append(seconds)
        if keys != expected:
            raise WrongAnswer(f"{design} answers {item.text} wrongly in a new process: {keys}")

    described.pedantic(ask, setup=forget, rounds=ROUNDS)
    described.extra_info.update(
        table="cold", route=design, kind=kind, order=order, scope="thought", queries=1,
        hits=[len(unmapped.answers.newest[item.text, "thought"])], cache="cold",
        seconds=statistics.median(times), resident_bytes=max(kept),
    )  # fmt: skip
