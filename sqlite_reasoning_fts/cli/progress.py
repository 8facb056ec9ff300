"""Progress of long work: a bar on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress as rich_progress
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ..progress import Progress

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(quiet: bool = False) -> Iterator[Progress | None]:
    """Gives a function ``report(done, total, what)``, or ``None`` where nobody wants to know."""
    if quiet:
        yield None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with rich_progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(done: int, total: int, what: str) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield report


def _lines(console: Console) -> Progress:
    """A line when a step begins, and one every few seconds while it lasts."""
    shown, at = "", 0.0

    def report(done: int, total: int, what: str) -> None:
        nonlocal shown, at
        now = time.monotonic()
        if what == shown and now - at < SECONDS_BETWEEN_LINES:
            return
        shown, at = what, now
        share = f" {done / total:.0%}" if done and total else ""
        console.print(f"{what}{share}", markup=False, highlight=False)

    return report
