"""Whether a design gives the oracle's answer: the same keys, ranks and order, in every scope."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..designs import Design
from ..results import Disagreement, Key
from ..selection import Selected, select
from .oracle import Answers
from .workload import by_turns

Progress = Callable[[int, int, str], None]

LIKE_SECONDS = 15.0


@dataclass(frozen=True)
class Agreement:
    """How many answers (a query in a scope) were compared, and which of them differ."""

    checked: int
    disagreements: tuple[Disagreement, ...]


def check_agreement(design: Design, answers: Answers, progress: Progress | None) -> Agreement:
    """Every query in every scope, all of its rows.

    ``like`` has no ranks, and some queries have none that could be compared (see
    ``Query.has_stable_ranks``); then the rows are compared as a set. ``like`` is there for
    comparison only, so it is asked for a while and not to the end.
    """
    found: list[Disagreement] = []
    checked = 0
    like = design.name == "like"
    started = time.perf_counter()
    for done, item in enumerate(by_turns(answers.workload)):
        if like and time.perf_counter() - started > LIKE_SECONDS:
            break
        if progress:
            progress(done, len(answers.workload), f"checking {design.name}")
        for scope in answers.scopes:
            if like and scope == "said":
                continue  # the agent's own LIKE route, which nobody proposes to change
            ranked = not like and item.query.has_stable_ranks
            order = "rank" if ranked else "newest"
            matches = design.matches(item.query, scope, ranked=ranked)
            rows = select(answers.reader, matches, order=order, limit=sys.maxsize - 1).rows
            expected = answers.ranked[item.text, scope]
            what = (
                _ranked_difference(expected, rows)
                if ranked
                else _set_difference([key for key, _ in expected], rows)
            )
            checked += 1
            if what is not None:
                found.append(Disagreement(design.name, scope, order, item.text, *what))
    return Agreement(checked, tuple(found))


def _ranked_difference(
    expected: Sequence[tuple[Key, float]], rows: Sequence[Selected]
) -> tuple[str, str, str] | None:
    if len(expected) != len(rows):
        return "number of rows", str(len(expected)), str(len(rows))
    for place, ((key, rank), row) in enumerate(zip(expected, rows, strict=True), 1):
        if key != row.key:
            return f"key at place {place}", f"{key!r} ({rank!r})", f"{row.key!r} ({row.rank!r})"
        if rank != row.rank:
            return f"rank of {key!r}", repr(rank), repr(row.rank)
    return None


def _set_difference(
    expected: Sequence[Key], rows: Sequence[Selected]
) -> tuple[str, str, str] | None:
    wanted, got = set(expected), {row.key for row in rows}
    if wanted == got:
        return None
    missing, extra = len(wanted - got), len(got - wanted)
    return f"rows: {missing} missed, {extra} too many", str(len(wanted)), str(len(got))


def first_keys(expected: Sequence[Key], rows: Sequence[Selected]) -> tuple[str, str, str] | None:
    """How the first rows differ from the expected ones, or ``None``."""
    got = [row.key for row in rows]
    want = list(expected[: len(got)]) if len(expected) > len(got) else list(expected)
    if want == got:
        return None
    return "first rows", repr(want), repr(got)
