"""Times of two builds by turns, in one thread, in several blocks.

What is timed is the processor time of the thread: on a machine that is shared, time in which
another program ran says nothing about the code. Where a library and the memory of a connection
happen to lie makes one of two equal builds faster by a per cent or two, for as long as they are
loaded. So each block loads fresh copies of both files in a random order and opens fresh
connections; the bootstrap draws blocks, and the interval knows of that.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from .cases import Case, Setting

Block = tuple[float, ...]
"""The ratios of one block, pair by pair: seconds of the new build over seconds of the base."""

SHORTEST_SECONDS = 0.01
"""A statement is repeated within a time until it takes as long as this."""


class DifferentAnswer(Exception):
    """The two builds do not answer alike."""


class NewInThisBuild(Exception):
    """The base cannot do this at all."""


@dataclass(frozen=True)
class Builds:
    """The two libraries, and a folder for copies of them."""

    base: Path
    new: Path
    folder: Path

    def copies(self, block: int) -> tuple[Path, Path]:
        """Files of their own, so that the loader maps each of them anew."""
        made = []
        for name, library in (("base", self.base), ("new", self.new)):
            target = self.folder / f"{name}-{block}{library.suffix}"
            if not target.exists():
                shutil.copyfile(library, target)
            made.append(target)
        return made[0], made[1]


def check(setting: Setting, builds: Builds, case: Case) -> None:
    """Raises where the builds differ, before anything is timed."""
    base, new = builds.copies(0)
    with closing(setting.connect(new)) as connection:
        found = connection.execute(case.sql, case.values).fetchall()
    with closing(setting.connect(base)) as connection:
        try:
            expected = connection.execute(case.sql, case.values).fetchall()
        except apsw.SQLError as error:
            raise NewInThisBuild(str(error)) from None
    if found != expected:
        raise DifferentAnswer(
            f"{len(expected)} rows in the base, {len(found)} in the new build; the first that "
            f"differ: {_first_difference(expected, found)}"
        )


def _first_difference(expected: Sequence[object], found: Sequence[object]) -> str:
    for one, other in zip(expected, found, strict=False):
        if one != other:
            return f"{one!r} and {other!r}"
    return "the rest of the longer one"


def sample(
    setting: Setting, builds: Builds, case: Case, *, blocks: int, pairs: int, seed: int
) -> tuple[Block, ...]:
    """So many blocks of so many pairs."""
    random_ = random.Random(seed)
    found = []
    for block in range(blocks):
        base, new = builds.copies(1000 * seed + block)
        first = random_.random() < 0.5
        with (
            closing(setting.connect(new if first else base)) as one,
            closing(setting.connect(base if first else new)) as two,
        ):
            sides = [_asked(connection, case) for connection in (one, two)]
            found.append(tuple(_ratios(*(sides if first else sides[::-1]), pairs, random_)))
    return tuple(found)


def _asked(connection: apsw.Connection, case: Case) -> Callable[[], object]:
    return lambda: connection.execute(case.sql, case.values).fetchall()


def _ratios(
    new: Callable[[], object], base: Callable[[], object], pairs: int, random_: random.Random
) -> Sequence[float]:
    new(), base()
    repeats = max(1, round(SHORTEST_SECONDS / max(_seconds(base, 1), 1e-6)))
    ratios = []
    for _ in range(pairs):
        if random_.random() < 0.5:
            new_seconds, base_seconds = _seconds(new, repeats), _seconds(base, repeats)
        else:
            base_seconds, new_seconds = _seconds(base, repeats), _seconds(new, repeats)
        ratios.append(new_seconds / base_seconds)
    return ratios


def _seconds(run: Callable[[], object], repeats: int) -> float:
    begun = time.thread_time()
    for _ in range(repeats):
        run()
    return time.thread_time() - begun
