"""How long the first query takes in a new process, when no page of the files is in memory."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from . import cache, cold
from .measured import MMAP_BYTES, Measured, WrongAnswer
from .peers import LIMIT
from .peers.like import LikeFlag
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


by_kind = pytest.mark.parametrize("kind", COLD_KINDS)


@by_order
@by_kind
@by_design
def test_first_query(
    described: Any, unmapped: Measured, design: str, kind: str, order: str
) -> None:
    item = first(unmapped, kind)
    unmapped.check(unmapped.design(design), item, "thought", order)
    described.extra_info.update(table="cold", route=design, kind=kind, order=order, queries=1)
    expected = unmapped.keys(item, "thought", order)
    measure(described, unmapped, item, expected, (design, item.text, order))


@by_kind
def test_fetch(described: Any, unmapped: Measured, kind: str) -> None:
    """The limit: the same whatever is asked."""
    item = first(unmapped, kind)
    described.extra_info.update(table="cold", route=cold.FETCH, kind=kind, order="newest")
    measure(described, unmapped, item, [unmapped.fetch()], (cold.FETCH, item.text, "newest"))


@by_kind
def test_like(described: Any, unmapped: Measured, kind: str, tmp_path: Path) -> None:
    why = LikeFlag.missing(unmapped)
    if why is not None:
        pytest.skip(why)
    item = first(unmapped, kind)
    expected = list(LikeFlag(unmapped, tmp_path).truth(item)[:LIMIT])
    described.extra_info.update(table="cold", route=LikeFlag.name, kind=kind, order="newest")
    measure(described, unmapped, item, expected, ("like", item.text, "newest", "all"))


def first(measured: Measured, kind: str) -> WorkloadQuery:
    items = measured.queries(kind)
    if not items:
        pytest.skip(f"the corpus is too small to have a query of the kind {kind}")
    return items[0]


def measure(
    described: Any,
    measured: Measured,
    item: WorkloadQuery,
    expected: list[Any],
    asked: tuple[str, ...],
) -> None:
    """Asks in new processes, each with the files forgotten before it."""
    times: list[float] = []
    kept: list[int] = []

    def forget() -> None:
        files = measured.path, Path(measured.bench.path)
        cache.drop(*files)
        kept.append(cache.resident(*files))

    def ask() -> None:
        seconds, keys = cold.ask(measured, *asked)
        times.append(seconds)
        if keys != expected:
            raise WrongAnswer(f"{asked[0]} answers {item.text} wrongly in a new process: {keys}")

    described.pedantic(ask, setup=forget, rounds=ROUNDS)
    described.extra_info.update(
        scope="thought", hits=[len(measured.answers.newest[item.text, "thought"])], cache="cold",
        seconds=statistics.median(times), resident_bytes=max(kept),
    )  # fmt: skip
