"""What each index costs to build and to keep: seconds, bytes, and bytes of the text."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from sqlite_reasoning_fts.compare import building
from sqlite_reasoning_fts.compare.workbench import Workbench
from sqlite_reasoning_fts.designs import STORED

from .measured import Measured

ROUNDS = 3


@pytest.mark.parametrize("design", STORED)
def test_build(described: Any, measured: Measured, design: str) -> None:
    """Built in one go on a scratch file of its own each time, as a blocking reindex is."""
    name = building.TABLE_OF[design]
    sizes: set[int] = set()
    with ExitStack() as held:

        def fresh() -> tuple[tuple[Workbench], dict[str, Any]]:
            held.pop_all().close()
            return (held.enter_context(measured.another_bench()),), {}

        def build(bench: Workbench) -> None:
            sizes.add(bench.build((name,))[name].bytes)

        described.pedantic(build, setup=fresh, rounds=ROUNDS)
    assert sizes == {measured.built[name].bytes}, "the same rows gave an index of another size"
    own = measured.built[building.SAID].bytes if design == "column" else 0
    described.extra_info.update(
        table="build", route=design, bytes=measured.built[name].bytes - own,
        bytes_of_text=measured.texts.bytes,
        bytes_of_full=measured.built[building.FULL].bytes,
    )  # fmt: skip
