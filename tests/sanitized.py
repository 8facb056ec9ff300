"""Runs the longer safety checks: the C drivers whole, and Python's tests, under ASan and UBSan.

    python tests/sanitized.py --out build/sanitized [TEST ...]

The tests run in this Python, over a copy of the package whose library is built with sanitizers.
Leaks are looked for in the C drivers, not in Python.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import drivers

TESTS = (
    "test_match", "test_scan", "test_scan_stored", "test_parse", "test_auxiliary",
    "test_prefilter", "test_unicode61", "test_native", "test_limits", "test_interrupts",
)  # fmt: skip
PACKAGE = "sqlite_reasoning_fts"


def run(*command: str | Path, **more: str) -> None:
    """Runs a command, which must end well."""
    print("$", *command, flush=True)
    subprocess.run([*map(str, command)], env={**os.environ, **more}, check=True)


def preloaded(compiler: str) -> str:
    """ASan's library, which must be the first in a process that was built without it."""
    found = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def run_drivers(tools: drivers.Toolchain, folder: Path) -> None:
    programs = drivers.build(tools, folder, tuple(drivers.DRIVERS))
    fuzz = drivers.TESTS / "fuzz"
    database = folder / "oom.db"
    database.unlink(missing_ok=True)
    run(programs["oom"], drivers.TESTS / "c" / "oom.sql", database)
    for name in drivers.FUZZERS:
        run(programs[name], fuzz / "corpus" / name)


def run_python(tools: drivers.Toolchain, folder: Path, tests: list[str]) -> None:
    package = folder / "python" / PACKAGE
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        drivers.ROOT / PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    drivers.build_library(tools, folder, package / "reasoning_fts.so")
    run(
        Path(sys.executable).parent / "pytest",
        *tests,
        LD_PRELOAD=preloaded(tools.compiler),
        PYTHONPATH=str(package.parent),
        ASAN_OPTIONS="detect_leaks=0",
        UBSAN_OPTIONS="print_stacktrace=1",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tests", nargs="*", help=f"instead of {' '.join(TESTS)}")
    parser.add_argument("--out", type=Path, default=drivers.ROOT / "build" / "sanitized")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tests = options.tests or [str(drivers.TESTS / f"{name}.py") for name in TESTS]
    try:
        tools = drivers.toolchain(options.out, sanitize=True)
        run_drivers(tools, options.out)
        run_python(tools, options.out, tests)
    except drivers.CannotBuild as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
