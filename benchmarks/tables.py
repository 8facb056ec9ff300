"""The tables of a report, in Markdown: every figure with its ratio to the limit and to LIKE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlite_reasoning_fts.compare.workload import KINDS

from .corpus import LENGTHS, REFERENCE_NAME, SHARES
from .peers.like import LikeFlag
from .results import Case, Results

LIKE = LikeFlag.name


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are figures."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bars(results: Results) -> str:
    """Each bar, what it asks for, what was measured, and whether that reaches it."""
    return table(
        ["what", "bar", "measured", "quartiles", "reached"],
        [
            [
                bar.what,
                f"{'≥' if bar.at_least else '≤'} {bar.bound:g}",
                figure(bar.ratio),
                f"{figure(bar.low)} to {figure(bar.high)}",
                "yes" if bar.reached else "**no**",
            ]
            for bar in results.bars
        ],
    )


def latency(results: Results, order: str, scope: str, kinds: Sequence[str] = KINDS) -> str:
    """Routes by kinds on the reference corpus: time, ratio to fetch, ratio to LIKE."""
    cases = [
        case
        for case in results.of("latency", REFERENCE_NAME)
        if case.order == order and (case.scope == scope or case.route == LIKE)
    ]
    cells = {(case.route, case.kind): case for case in cases}
    like = {case.kind: case for case in results.of("latency", REFERENCE_NAME) if case.route == LIKE}
    shown = [kind for kind in kinds if any(case.kind == kind for case in cases)]
    routes = list(dict.fromkeys(case.route for case in cases))

    def cell(route: str, kind: str) -> str:
        case = cells.get((route, kind))
        return "-" if case is None else _cell(case, like.get(kind))

    return table(
        ["", *shown], [[route, *(cell(route, kind) for kind in shown)] for route in routes]
    )


def _cell(case: Case, like: Case | None) -> str:
    """``time (ratio to fetch; ratio to LIKE)``."""
    ratios = [f"{figure(case.ratio)}×" if case.ratio else "-"]
    if like is not None and like.ratio and case.ratio:
        ratios.append(f"{figure(case.ratio / like.ratio)}×")
    return f"{duration(case.seconds)} ({'; '.join(ratios)})"


def matrix(results: Results, kind: str, order: str) -> str:
    """Designs by corpora for one kind of query: time, ratio to fetch, ratio to LIKE."""
    cases = [
        case
        for case in results.of("latency")
        if case.kind == kind and case.scope == "thought" and case.order == order
    ]
    likes = {
        case.corpus: case
        for case in results.of("latency")
        if case.route == LIKE and case.kind == kind
    }
    cells = {(case.corpus, case.route): case for case in cases}
    designs = list(dict.fromkeys(case.route for case in results.of("build")))
    designs = ["scan", *designs, LIKE]
    names = [f"{length} rows, {share} with reasoning" for length in LENGTHS for share in SHARES]
    rows = []
    for name in names:
        if not any(corpus == name for corpus, _ in cells):
            continue
        row = [name]
        for design in designs:
            case = cells.get((name, design)) or (likes.get(name) if design == LIKE else None)
            row.append("-" if case is None else _cell(case, likes.get(name)))
        rows.append(row)
    return table(["", *designs], rows)


def build(results: Results, corpus: str = REFERENCE_NAME) -> str:
    """What each index costs to build and to keep."""
    fetch = next(
        (case.seconds for case in results.of("limits", corpus) if case.route == "fetch"), 0
    )
    rows = []
    for case in results.of("build", corpus):
        size = case.facts["bytes"]
        rows.append(
            [
                case.route,
                f"{size / 1e6:.1f} MB",
                f"{100 * size / case.facts['bytes_of_text']:.1f}%",
                figure(size / case.facts["bytes_of_full"]),
                duration(case.seconds),
                f"{figure(case.seconds / fetch)}×" if fetch else "-",
            ]
        )
    head = ["index", "stored", "of the text", "of `full`", "build", "build / fetch"]
    return table(head, rows)


def cold(results: Results, corpus: str = REFERENCE_NAME) -> str:
    """The first query in a new process without a page in memory."""
    cases = [case for case in results.of("cold", corpus) if case.order == "newest"]
    cells = {(case.route, case.kind): case for case in cases}
    kinds = list(dict.fromkeys(case.kind for case in cases))

    def cell(route: str, kind: str) -> str:
        case = cells.get((route, kind))
        if case is None:
            return "-"
        ratios = [
            f"{figure(case.seconds / other.seconds)}×"
            for other in (cells.get(("fetch", kind)), cells.get((LIKE, kind)))
            if other is not None
        ]
        return f"{duration(case.seconds)} ({'; '.join(ratios)})"

    routes = list(dict.fromkeys(case.route for case in cases))
    return table(["", *kinds], [[route, *(cell(route, k) for k in kinds)] for route in routes])


def limits(results: Results) -> str:
    """What the machine allows, by corpus."""
    routes = ["memory read", "file read", "fetch"]
    rows = []
    for corpus in results.corpora:
        times = {case.route: case.seconds for case in results.of("limits", corpus)}
        if times:
            rows.append([corpus, *(duration(times[route]) for route in routes if route in times)])
    return table(["corpus", *routes], rows)


def corpora(results: Results) -> str:
    """What was measured on."""
    return table(
        ["corpus", "rows", "with reasoning", "characters of reasoning"],
        [
            [
                name,
                f"{facts['rows']:,}",
                f"{facts['rows_with_reasoning']:,}",
                f"{facts['reasoning_characters']:,}",
            ]
            for name, facts in results.corpora.items()
        ],
    )


def figure(value: float | None) -> str:
    """Three digits that can be read."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    if value >= 0.01:
        return f"{value:.3g}"
    return f"{value:.5f}".rstrip("0")


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def whole(results: Results) -> str:
    """The report of a run."""
    machine = results.machine
    parts: list[tuple[str, Callable[[], str]]] = [
        ("Corpora", lambda: corpora(results)),
        ("Limits", lambda: limits(results)),
        ("Bars", lambda: bars(results)),
        ("Newest 20, reasoning", lambda: latency(results, "newest", "thought")),
        ("Best 20 by rank, reasoning", lambda: latency(results, "rank", "thought")),
        ("Newest 20, content and reasoning", lambda: latency(results, "newest", "all")),
        ("Best 20 by rank, content and reasoning", lambda: latency(results, "rank", "all")),
        ("Indexes", lambda: build(results)),
        ("First query in a new process, cold cache", lambda: cold(results)),
        *(
            (f"By length of row and share of reasoning: {kind}, newest 20", _of(results, kind))
            for kind in ("rare", "common", "phrase")
        ),
    ]
    head = (
        f"# Measured on {machine['date']}\n\n{machine['processor']}, {machine['cores']} cores, "
        f"{machine['system']}, Python {machine['python']}, SQLite {machine['sqlite_version']}, "
        f"SIMD {machine['simd_level']}, pages of {machine['page_size']} bytes, files mapped into "
        "memory.\n\nIn brackets: the ratio to fetch (reading the columns that the reasoning is "
        f"made of, and nothing else), then the ratio to the {LIKE} (the condition that is proposed "
        "to the agent). Below 1 is faster."
    )
    return "\n\n".join([head, *(f"## {title}\n\n{make()}" for title, make in parts)]) + "\n"


def _of(results: Results, kind: str) -> Callable[[], str]:
    return lambda: matrix(results, kind, "newest")
