"""The verdicts as Markdown: ratios alone, for no machine's seconds are another's."""

from __future__ import annotations

from collections.abc import Sequence

from .verdict import Verdict


def page(verdicts: Sequence[Verdict], base: str, threshold: float) -> str:
    """A table, and above it one sentence that says how it ended."""
    failed = [verdict for verdict in verdicts if verdict.fails]
    limit = f"{threshold:.0%}"
    if any(verdict.kind == "different" for verdict in failed):
        head = f"**The builds do not answer alike** ({_cases(failed)})."
    elif failed:
        head = f"**Slower than {base} by more than {limit}**: {_cases(failed)}."
    else:
        head = f"No case is slower than {base} by more than {limit}."
    lines = [
        f"### Speed against {base}",
        "",
        head,
        "",
        "| case | time / base | 99% interval | verdict |",
        "|---|--:|--:|---|",
        *(_row(verdict) for verdict in verdicts),
        "",
        "Processor time of one thread, both builds by turns in one process, answers compared.",
    ]
    return "\n".join(lines) + "\n"


def _cases(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(verdict.case for verdict in verdicts)


def _row(verdict: Verdict) -> str:
    found = verdict.interval
    ratio = "-" if found is None else f"{found.median:.3f}"
    between = "-" if found is None else f"{found.low:.3f} to {found.high:.3f}"
    kind = f"**{verdict.kind}**" if verdict.fails else verdict.kind
    why = f" ({verdict.why})" if verdict.why else ""
    return f"| {verdict.case} | {ratio} | {between} | {kind}{why} |"
