"""Takes each guard away in turn and demands that a test notices.

A mutant is a patch in this folder. Its head, before the first ``---``, says in a line ``Guard:``
what is taken away, and in lines ``Test:`` which tests must fail then. Without any patch all of
these tests must pass.

    python tests/mutants/run.py                  all of them
    python tests/mutants/run.py depth-of-tree    some of them
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
NOT_COPIED = (".git", ".venv", "build", "dist", ".*_cache", ".hypothesis", "__pycache__")
TESTS_FAILED = 1
"""pytest's exit code; negative ones are signals, and any other is a fault of the call."""


class MutantError(Exception):
    """A patch that is not as it must be, or that no test notices."""


@dataclass(frozen=True)
class Mutant:
    name: str
    path: Path
    guard: str
    tests: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Mutant:
        head = path.read_text(encoding="utf-8").partition("\n--- ")[0].splitlines()
        guards = [line.removeprefix("Guard: ") for line in head if line.startswith("Guard: ")]
        tests = tuple(line.removeprefix("Test: ") for line in head if line.startswith("Test: "))
        if len(guards) != 1 or not tests:
            raise MutantError(f"{path.name}: its head needs one line 'Guard: ' and lines 'Test: '")
        return cls(path.stem, path, guards[0], tests)

    def patch(self, tree: Path, *options: str) -> None:
        with self.path.open("rb") as text:
            done = subprocess.run(
                ["patch", "-p1", "--batch", "--forward", "--fuzz=0", *options],
                cwd=tree,
                stdin=text,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise MutantError(f"{self.path.name} does not apply:\n{done.stdout}{done.stderr}")

    @property
    def changes_library(self) -> bool:
        text = self.path.read_text(encoding="utf-8")
        return any(line.startswith(("--- a/csrc/", "--- a/setup.py")) for line in text.splitlines())


def all_mutants() -> list[Mutant]:
    return [Mutant.read(path) for path in sorted(FOLDER.glob("*.patch"))]


def build(tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "--force"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise MutantError(f"does not build:\n{done.stderr[-3000:]}")


def test(tree: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Runs tests over a tree; what was downloaded for them before is used again."""
    cache = f"cache_dir={ROOT / '.pytest_cache'}"
    options = ["-x", "-o", cache, "--hypothesis-seed=1"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "REASONING_FTS_REQUIRE": "1"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def check_unchanged(tree: Path, mutants: list[Mutant]) -> None:
    tests = tuple(dict.fromkeys(name for mutant in mutants for name in mutant.tests))
    print(f"without a patch: {len(tests)} tests ...", flush=True)
    build(tree)
    done = test(tree, tests)
    if done.returncode != 0:
        raise MutantError(f"without a patch tests fail:\n{done.stdout[-3000:]}{done.stderr}")


def check(tree: Path, mutant: Mutant) -> None:
    """Applies a patch, demands that each of its tests fails, and takes the patch back."""
    mutant.patch(tree)
    try:
        if mutant.changes_library:
            build(tree)
        for name in mutant.tests:
            done = test(tree, (name,))
            if done.returncode == 0:
                raise MutantError(f"{mutant.name}: {name} does not notice: {mutant.guard}")
            if done.returncode > TESTS_FAILED:
                raise MutantError(f"{mutant.name}: {name} cannot run:\n{done.stdout[-3000:]}")
    finally:
        mutant.patch(tree, "--reverse")
        if mutant.changes_library:
            build(tree)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mutants", nargs="*", help="names of patches; all where none is named")
    options = parser.parse_args()
    mutants = all_mutants()
    unknown = set(options.mutants) - {mutant.name for mutant in mutants}
    if unknown:
        parser.error(f"no such mutant: {', '.join(sorted(unknown))}")
    if options.mutants:
        mutants = [mutant for mutant in mutants if mutant.name in options.mutants]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_COPIED))
        try:
            check_unchanged(tree, mutants)
        except MutantError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        for number, mutant in enumerate(mutants, 1):
            print(f"[{number}/{len(mutants)}] {mutant.name}: {mutant.guard} ...", flush=True)
            try:
                check(tree, mutant)
            except MutantError as error:
                print(f"error: {error}", file=sys.stderr, flush=True)
                failed += 1
    print(f"{len(mutants) - failed} of {len(mutants)} mutants are caught")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
