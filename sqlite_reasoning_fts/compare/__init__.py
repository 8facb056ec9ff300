"""The main job: what each way of making the reasoning searchable costs and gives on one archive."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..designs import EVERY_NAME, NAMES
from ..errors import UsageError
from ..progress import Progress
from ..query import check_choice
from ..results import (
    ArchiveInfo,
    Comparison,
    DefaultSearch,
    DesignCost,
    Disagreement,
    Latency,
    Oracle,
)
from .agreement import check_agreement
from .building import COLUMN, ORACLE, SAID, TABLE_OF, THOUGHT_ALL
from .default_search import default_search
from .latency import SCOPES, measure
from .oracle import OracleTables
from .summary import summary
from .workbench import Workbench
from .workload import choose, given, vocabulary


def compare(
    bench: Workbench,
    info: ArchiveInfo,
    designs: Sequence[str] | None,
    queries: Sequence[str] | None,
    seed: int,
    repeat: int,
    progress: Progress | None,
) -> Comparison:
    """Builds, checks against the oracle, and measures; see ``results.Comparison``."""
    started = time.perf_counter()
    names = tuple(dict.fromkeys(designs)) if designs else NAMES
    for name in names:
        check_choice("design", name, EVERY_NAME)
    if repeat < 1:
        raise UsageError(f"repeat is {repeat}", "give 1 or more")
    reader = bench.reader
    counts = bench.count(progress)
    bench.check_room_for(2 * counts.content_characters + 3 * counts.reasoning_characters)

    added = [TABLE_OF[name] for name in names if name in TABLE_OF]
    built = bench.build(tuple(dict.fromkeys((*ORACLE, *added))), progress)
    places = {"said": SAID, "thought": THOUGHT_ALL, "all": COLUMN}
    oracle = OracleTables(
        reader, {scope: built[name].table for scope, name in places.items() if name in built}
    )
    words = vocabulary(reader.database, counts.rows_with_reasoning)
    workload = choose(reader, words, seed) if queries is None else given(reader, words, queries)

    own = built.get(SAID) if reader.adapter.own_index else None
    disagreements: list[Disagreement] = []
    latency: list[Latency] = []
    checked: dict[str, int] = {}
    answers = oracle.answers(workload, progress)
    for design in map(bench.design, names):
        # What is timed is checked there; LIKE, whose answers differ, is asked again for all rows.
        rest = SCOPES if design.name == "like" else set(answers.scopes) - set(SCOPES)
        measured = measure(design, answers, repeat, progress)
        latency += measured.latency
        for agreement in (
            measured.agreement,
            check_agreement(design, answers, sorted(rest), progress),
        ):
            disagreements += agreement.disagreements
            checked[design.name] = checked.get(design.name, 0) + agreement.checked
    costs = []
    for name in names:
        size, seconds = 0, 0.0
        if name in TABLE_OF:
            index = built[TABLE_OF[name]]
            size, seconds = index.bytes, index.seconds
            if name == "column" and own is not None:
                size -= own.bytes
        costs.append(
            DesignCost(
                name=name,
                bytes=size,
                growth_of_index=size / own.bytes if own else None,
                growth_of_file=size / info.bytes,
                build_seconds=seconds,
                agrees=not any(found.design == name for found in disagreements),
                answers_checked=checked[name],
            )
        )
    default: tuple[DefaultSearch, ...] = ()
    if own is not None and "column" in names:
        default = default_search(reader, own.table, built[COLUMN].table, workload, progress)
    bench.check_not_replaced()
    result = Comparison(
        archive=info,
        seed=seed,
        oracle=Oracle(reader.database.sqlite_version, bench.rows, len(workload)),
        designs=tuple(costs),
        latency=tuple(latency),
        disagreements=tuple(disagreements),
        default_search=default,
        summary=(),
        rows=counts.rows,
        rows_with_reasoning=counts.rows_with_reasoning,
        reasoning_characters=counts.reasoning_characters,
        content_characters=counts.content_characters,
        wal_growth_bytes=bench.wal_growth,
        index_bytes=own.bytes if own else None,
        seconds=time.perf_counter() - started,
    )
    return summary(result)


__all__ = ["compare"]
