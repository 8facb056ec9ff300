"""The last paragraph of a comparison: what the figures mean, in plain words."""

from __future__ import annotations

import statistics
from dataclasses import replace

from ..results import Comparison, DefaultSearch, DesignCost, Latency


def summary(result: Comparison) -> Comparison:
    """The comparison with its sentences."""
    return replace(result, summary=tuple(_sentences(result)))


def median_ms(
    result: Comparison, design: str, *, kind: str | None = None, order: str, scope: str
) -> float | None:
    """The median of the queries' medians, ``None`` where none was measured."""
    times = [
        entry.median_ms
        for entry in result.latency
        if _is(entry, design, order, scope) and kind in (None, entry.kind)
    ]
    return statistics.median(times) if times else None


def _is(entry: Latency, design: str, order: str, scope: str) -> bool:
    return (entry.design, entry.order, entry.scope) == (design, order, scope)


def _sentences(result: Comparison) -> list[str]:
    sentences = [_hole(result)]
    costs = {cost.name: cost for cost in result.designs}
    for name, cost in costs.items():
        sentences.append(_sentence(result, name, cost))
    sentences += [_default(found) for found in result.default_search]
    advice = _advice(result, costs)
    if advice:
        sentences.append(advice)
    wrong = [cost.name for cost in costs.values() if not cost.agrees and cost.name != "like"]
    if wrong:
        sentences.append(
            f"WRONG ANSWERS: {', '.join(wrong)} differ from the oracle; see the disagreements. "
            "Do not rely on these figures."
        )
    if result.wal_growth_bytes:
        sentences.append(
            f"The archive's WAL grew by {megabytes(result.wal_growth_bytes)} while it was read."
        )
    return sentences


def _hole(result: Comparison) -> str:
    if not result.rows_with_reasoning:
        return "No row of this archive has readable reasoning: there is nothing to make searchable."
    share = result.rows_with_reasoning / result.rows
    ratio = (
        f", {result.reasoning_characters / result.content_characters:.1%} of what is indexed"
        if result.content_characters
        else ""
    )
    return (
        f"{result.rows_with_reasoning:,} of {result.rows:,} rows ({share:.1%}) hold reasoning, "
        f"{result.reasoning_characters:,} characters{ratio}."
    )


def _sentence(result: Comparison, name: str, cost: DesignCost) -> str:
    rare = median_ms(result, name, kind="rare", order="newest", scope="all")
    median = median_ms(result, name, order="newest", scope="all")
    speed = "not timed"
    if rare is not None:
        speed = f"a rare term takes {milliseconds(rare)}"
    elif median is not None:
        speed = f"a query takes {milliseconds(median)}"
    if name == "like":
        wrong = sum(d.design == "like" for d in result.disagreements)
        return (
            f"like (the flag as it is proposed) stores nothing; {speed}, unranked; its rows differ "
            f"from the index's in {wrong} of {cost.answers_checked} answers."
        )
    if name == "scan":
        return f"scan stores nothing and answers as the index does, ranked; {speed}."
    growth = f"{megabytes(cost.bytes)} more, {cost.growth_of_file:.1%} of the file"
    if cost.growth_of_index is not None:
        growth += f" and {cost.growth_of_index:.0%} of the agent's index"
    build = f"{cost.build_seconds:.1f} s to build"
    if name == "full":
        return f"full costs {growth}, {build} without touching the agent's index; {speed}."
    return (
        f"column costs {growth}, and a blocking reindex of {cost.build_seconds:.1f} s for every "
        f"user; {speed}. It needs a changed agent."
    )


def _default(found: DefaultSearch) -> str:
    if found.same_rows and found.same_order and found.same_ranks:
        return (
            f"With {found.design} and {found.ranker}, the default search returns the same rows, "
            "order and ranks as before."
        )
    lost = [
        word
        for word, same in (
            ("rows", found.same_rows),
            ("order", found.same_order),
            ("ranks", found.same_ranks),
        )
        if not same
    ]
    return (
        f"With {found.design} and {found.ranker}, the default search changes its "
        f"{', '.join(lost)}; the first ten of {len(found.changed_top10)} queries change."
    )


def _advice(result: Comparison, costs: dict[str, DesignCost]) -> str | None:
    scan = median_ms(result, "scan", kind="rare", order="newest", scope="all")
    full = median_ms(result, "full", kind="rare", order="newest", scope="all")
    if scan is None or full is None or "full" not in costs:
        return None
    return (
        f"Which suits whom: if a search that takes {milliseconds(scan)} is fast enough, scan costs "
        f"nobody anything. Where reasoning is searched often, full answers in {milliseconds(full)} "
        f"for {megabytes(costs['full'].bytes)} and leaves the agent's own index and its ranking "
        "alone. column is for a maintainer who changes the agent's schema and queries anyway."
    )


def megabytes(size: float) -> str:
    """Bytes in words a person reads: kB, MB or GB, powers of ten."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB")):
        if abs(size) >= limit:
            return f"{size / limit:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def milliseconds(value: float, *others: float) -> str:
    """A duration of so many milliseconds with three digits; ``others`` follow in its unit."""
    factor, unit = 1.0, "ms"
    if value >= 1000:
        factor, unit = 0.001, "s"
    elif value < 1:
        factor, unit = 1000.0, "µs"
    text = f"{_three_digits(value * factor)} {unit}"
    if others:
        text += f" ({'-'.join(_three_digits(other * factor) for other in others)})"
    return text


def _three_digits(value: float) -> str:
    return f"{value:.{max(0, 2 - max(0, len(str(int(value))) - 1))}f}"
