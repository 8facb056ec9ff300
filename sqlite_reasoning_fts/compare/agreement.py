"""Whether a design gives the oracle's answer: the same keys, ranks and order, in every scope."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..designs import Design
from ..progress import Progress
from ..results import Disagreement, Key
from ..selection import Selected, ordered
from .oracle import Answer, Answers
from .workload import WorkloadQuery, by_turns

Difference = tuple[str, str, str]
"""What differs, what was expected, what was found."""

LIKE_SECONDS = 5.0
LIMIT = 20
"""Rows of an answer that is timed."""


@dataclass(frozen=True)
class Agreement:
    """How many answers (a query in a scope) were compared, and which of them differ."""

    checked: int
    disagreements: tuple[Disagreement, ...]


def check_agreement(
    design: Design, answers: Answers, scopes: Sequence[str], progress: Progress | None
) -> Agreement:
    """Every query in some scopes, all of its rows.

    ``like`` is there for comparison only, so it is asked for a while and not to the end, and its
    rows are compared as a set.
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
        for scope in scopes:
            matches = design.matches(item.query, scope, ranked=not like)
            order = "newest" if like else "rank"
            rows = list(ordered(answers.reader, matches, order))
            what = whole_difference(answers, item, scope, rows, ranked=not like)
            checked += 1
            if what is not None:
                found.append(Disagreement(design.name, scope, order, item.text, *what))
    return Agreement(checked, tuple(found))


def whole_difference(
    answers: Answers, item: WorkloadQuery, scope: str, rows: Sequence[Selected], *, ranked: bool
) -> Difference | None:
    """How all rows of an answer differ from the oracle's, or ``None``.

    Without ranks that could be compared (see ``Query.has_stable_ranks``) they are compared as a
    set.
    """
    expected = answers.ranked[item.text, scope]
    if ranked and item.query.has_stable_ranks:
        return _ranked_difference(expected, rows)
    return _set_difference(expected.keys, rows)


def _ranked_difference(expected: Answer, rows: Sequence[Selected]) -> Difference | None:
    if len(expected) != len(rows):
        return "number of rows", str(len(expected)), str(len(rows))
    for place, ((key, rank), row) in enumerate(zip(expected, rows, strict=True), 1):
        if key != row.key:
            return f"key at place {place}", f"{key!r} ({rank!r})", f"{row.key!r} ({row.rank!r})"
        if rank != row.rank:
            return f"rank of {key!r}", repr(rank), repr(row.rank)
    return None


def _set_difference(expected: Sequence[Key], rows: Sequence[Selected]) -> Difference | None:
    wanted, got = set(expected), {row.key for row in rows}
    if wanted == got:
        return None
    missing, extra = len(wanted - got), len(got - wanted)
    return f"rows: {missing} missed, {extra} too many", str(len(wanted)), str(len(got))


def newest_difference(
    answers: Answers, item: WorkloadQuery, scope: str, rows: Sequence[Selected]
) -> Difference | None:
    """How the first rows, newest first, differ from the oracle's, or ``None``."""
    expected = answers.newest[item.text, scope]
    want, got = list(expected[: max(len(rows), LIMIT)]), [row.key for row in rows]
    return None if want == got else ("first rows", repr(want), repr(got))
