"""``python -m benchmarks.gate --base REVISION``: is this tree slower than another one?

Exit codes: 0 no; 1 a case is slower by more than the threshold, or answers differently; 2 a version
cannot be built, or wrong usage.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from sqlite_reasoning_fts.demo import generate

from . import builds, sampling
from .cases import Case, Setting, setting
from .page import page
from .sampling import Builds, DifferentAnswer, NewInThisBuild
from .verdict import Interval, Verdict, interval, kind_of

ARCHIVE_SCALE = 0.02


@click.command()
@click.option("--base", required=True, metavar="REVISION", help="What to compare with.")
@click.option("--patch", type=click.Path(exists=True, path_type=Path), metavar="FILE",
              help="Apply this to a copy of the tree first.")  # fmt: skip
@click.option("--threshold", default=0.05, show_default=True, help="How much slower is too slow.")
@click.option("--blocks", default=8, show_default=True, help="Times that both are loaded anew.")
@click.option("--pairs", default=12, show_default=True, help="Pairs of times in a block.")
@click.option("--seed", default=1, show_default=True, help="Seed of the order and the bootstrap.")
@click.option("--archive", type=click.Path(exists=True, path_type=Path), metavar="FILE",
              help="Measure on this archive instead of a generated one.")  # fmt: skip
@click.option("--scale", default=ARCHIVE_SCALE, show_default=True, help="Of the generated one.")
@click.option("--case", "only", multiple=True, metavar="TEXT", help="Cases whose name has this.")
@click.option("--summary", type=click.Path(path_type=Path), metavar="FILE",
              help="Append the Markdown to this file.")  # fmt: skip
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the verdicts to this file.")  # fmt: skip
def main(
    base: str,
    patch: Path | None,
    threshold: float,
    blocks: int,
    pairs: int,
    seed: int,
    archive: Path | None,
    scale: float,
    only: tuple[str, ...],
    summary: Path | None,
    json_file: Path | None,
) -> None:
    """Compare the library of this tree with that of another REVISION, in one process."""
    with tempfile.TemporaryDirectory(prefix="reasoning-gate-") as name:
        folder = Path(name)
        try:
            libraries = Builds(
                builds.of_revision(base, folder / "base"),
                builds.of_working_tree(folder / "new", patch),
                folder,
            )
        except builds.BuildError as error:
            raise click.UsageError(str(error)) from None
        if archive is None:
            archive = folder / "archive.db"
            generate(archive, scale=scale)
        asked = setting(archive)

        def measure(case: Case, seed: int) -> Interval:
            found = sampling.sample(asked, libraries, case, blocks=blocks, pairs=pairs, seed=seed)
            return interval(found, seed)

        chosen = [
            case for case in asked.cases if not only or any(text in case.name for text in only)
        ]
        verdicts = []
        for number, case in enumerate(chosen, 1):
            click.echo(f"{number}/{len(chosen)} {case.name}", err=True)
            verdicts.append(judge(asked, libraries, case, threshold, seed, measure))
    text = page(verdicts, base, threshold)
    click.echo(text)
    if summary is not None:
        with summary.open("a", encoding="utf-8") as out:
            out.write(text)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(one) for one in verdicts], indent=1) + "\n")
    sys.exit(1 if any(verdict.fails for verdict in verdicts) else 0)


def judge(
    asked: Setting,
    libraries: Builds,
    case: Case,
    threshold: float,
    seed: int,
    measure: Callable[[Case, int], Interval],
) -> Verdict:
    """One case. With many cases one of them may look slower by chance, so an alarm has to show
    again in a second measurement that shares nothing with the first."""
    try:
        sampling.check(asked, libraries, case)
    except DifferentAnswer as error:
        return Verdict(case.name, "different", why=str(error))
    except NewInThisBuild as error:
        return Verdict(case.name, "new", why=str(error))
    found = measure(case, seed)
    kind = kind_of(found, threshold)
    if kind == "slower":
        found = measure(case, seed + 1)
        kind = kind_of(found, threshold)
    return Verdict(case.name, kind, found)


if __name__ == "__main__":
    main()
