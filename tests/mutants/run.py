"""Takes out one guard at a time and shows that the tests notice.

    python tests/mutants/run.py [NAME...]

Each ``*.patch`` beside this file removes a guard. Its head says what is lost, and on the lines that
begin with ``tests:`` which tests are to fail. The tree is copied, the tests are run to see that
they pass, the patch is applied, the library is built where C changed, and the tests are run again.
A patch that does not apply is an error, as is one whose tests pass without the guard.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARY = Path("sqlite_reasoning_fts") / "reasoning_fts.so"
TIMEOUT = 900


@dataclass(frozen=True)
class Mutant:
    """A patch, why its guard is there, and the tests that miss it."""

    path: Path
    reason: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def touches_c(self) -> bool:
        changed = [line for line in self.path.read_text().splitlines() if line.startswith("+++ ")]
        return any(line.endswith((".c", ".h", "setup.py")) for line in changed)


def mutants() -> list[Mutant]:
    """All patches, by name."""
    found = []
    for path in sorted(HERE.glob("*.patch")):
        head = path.read_text(encoding="utf-8").partition("--- ")[0].splitlines()
        tests = [line.removeprefix("tests:").strip() for line in head if line.startswith("tests:")]
        reason = " ".join(line for line in head if line and not line.startswith("tests:"))
        if not tests or not reason:
            raise SystemExit(f"{path.name}: its head names no reason or no tests")
        found.append(Mutant(path, reason, tuple(tests)))
    return found


def applies(mutant: Mutant, tree: Path, *, dry_run: bool = False) -> bool:
    """Applies a patch to a tree, or says whether it would."""
    options = ["--dry-run"] if dry_run else []
    done = subprocess.run(
        ["patch", "--strip=1", "--fuzz=0", "--batch", *options, "--input", str(mutant.path)],
        cwd=tree,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def copy_tree(target: Path) -> None:
    """The tree as it stands, with its built library, without what git does not know."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in os.fsdecode(listed.stdout).split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    shutil.copy2(ROOT / LIBRARY, target / LIBRARY)


def run(command: list[str], tree: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command on a tree whose package is the one that Python finds first."""
    return subprocess.run(
        command,
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, "PYTHONPATH": str(tree), "REASONING_FTS_REQUIRE": "1"},
        check=False,
    )


def tests_pass(mutant: Mutant, tree: Path) -> bool:
    tests = [word for line in mutant.tests for word in line.split()]
    done = run([sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests], tree)
    if done.returncode not in (0, 1):
        # Not found, not collected: that is no verdict. A crash is one.
        if done.returncode > 0:
            raise SystemExit(f"{mutant.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return False
    return done.returncode == 0


def is_caught(mutant: Mutant, tree: Path) -> bool:
    """Whether the tests pass with the guard and fail without it."""
    if not tests_pass(mutant, tree):
        raise SystemExit(f"{mutant.name}: its tests fail although the guard is there")
    if not applies(mutant, tree):
        raise SystemExit(f"{mutant.name}: the patch does not apply; make it again")
    if mutant.touches_c:
        built = run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"], tree)
        if built.returncode != 0:
            raise SystemExit(f"{mutant.name}: does not build\n{built.stderr[-2000:]}")
    return not tests_pass(mutant, tree)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="patches, without .patch; all by default")
    chosen = parser.parse_args().names
    known = mutants()
    unknown = set(chosen) - {mutant.name for mutant in known}
    if unknown:
        parser.error(f"no such patch: {', '.join(sorted(unknown))}")
    picked = [mutant for mutant in known if not chosen or mutant.name in chosen]
    missed = []
    for number, mutant in enumerate(picked, start=1):
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            tree = Path(folder)
            copy_tree(tree)
            caught = is_caught(mutant, tree)
        if not caught:
            missed.append(mutant.name)
        verdict = "caught" if caught else "MISSED"
        print(
            f"[{number}/{len(picked)}] {verdict}  {mutant.name}: {mutant.reason}"
            f" ({time.monotonic() - begun:.0f} s)",
            flush=True,
        )
    print(f"{len(picked) - len(missed)} of {len(picked)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
