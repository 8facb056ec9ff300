"""Whether a design gives the oracle's answer: the same keys, ranks and order, in every scope."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from ..designs import Design
from ..results import Disagreement, Key
from ..selection import Selected, select
from .oracle import Answers

Progress = Callable[[int, int, str], None]


def check_agreement(
    design: Design, answers: Answers, progress: Progress | None
) -> list[Disagreement]:
    """Every query in every scope, all of its rows.

    ``like`` has no ranks, and some queries have none that could be compared (see
    ``Query.has_stable_ranks``); then the rows are compared as a set.
    """
    found = []
    for done, item in enumerate(answers.workload):
        if progress:
            progress(done, len(answers.workload), f"checking {design.name}")
        for scope in answers.scopes:
            if design.name == "like" and scope == "said":
                continue  # the agent's own LIKE route, which nobody proposes to change
            ranked = design.name != "like" and item.query.has_stable_ranks
            matches = design.matches(item.query, scope, ranked=ranked)
            rows = select(
                answers.reader, matches, order="rank" if ranked else "newest", limit=sys.maxsize - 1
            ).rows
            expected = answers.ranked[item.text, scope]
            what = (
                _ranked_difference(expected, rows)
                if ranked
                else _set_difference([key for key, _ in expected], rows)
            )
            if what is not None:
                order = "rank" if ranked else "newest"
                found.append(Disagreement(design.name, scope, order, item.text, *what))
    return found


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
