"""The gate alarms where a build is slower for sure, and refuses builds that answer differently."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf
from benchmarks.gate import __main__ as gate
from benchmarks.gate.builds import ROOT
from benchmarks.gate.cases import Case, Setting
from benchmarks.gate.page import page
from benchmarks.gate.sampling import Builds
from benchmarks.gate.verdict import Interval, Verdict, interval, kind_of

ratios = st.floats(min_value=0.5, max_value=2.0)
blocks = st.lists(st.lists(ratios, min_size=1, max_size=8), min_size=1, max_size=6)

WITHOUT_FUNCTIONS = """
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1
int sqlite3_reasoningfts_init(sqlite3 *db, char **error, const sqlite3_api_routines *api){
  (void)db; (void)error;
  SQLITE_EXTENSION_INIT2(api)
  return SQLITE_OK;
}
"""


@settings(deadline=None, max_examples=20)
@given(blocks=blocks)
def test_an_interval_lies_around_the_median_and_within_the_ratios(
    blocks: list[list[float]],
) -> None:
    found = interval(blocks, seed=1)
    every = [ratio for block in blocks for ratio in block]
    assert min(every) <= found.low <= found.high <= max(every)
    assert min(every) <= found.median <= max(every)


def test_equal_ratios_leave_no_doubt() -> None:
    assert interval([[1.5] * 4] * 3, seed=1) == Interval(1.5, 1.5, 1.5)


def test_a_block_that_is_off_as_a_whole_widens_the_interval() -> None:
    apart = interval([[1.0] * 10] * 4 + [[1.2] * 10] * 4, seed=1)
    assert (apart.low, apart.high) == (1.0, 1.2)


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (1.06, 1.20, "slower"),
        (1.04, 1.20, "same"),
        (0.90, 1.10, "same"),
        (0.80, 0.90, "faster"),
        (0.90, 0.99, "same"),
    ],
)
def test_only_an_interval_past_the_threshold_is_an_alarm(
    low: float, high: float, kind: str
) -> None:
    assert kind_of(Interval((low + high) / 2, low, high), 0.05) == kind


@pytest.fixture(scope="session")
def library() -> Path:
    return Path(rf.extension_path())


def asked(folder: Path, *cases: Case) -> Setting:
    path = folder / "archive.db"
    path.touch()
    return Setting(path, "SELECT 1 AS rowid, 'a cache' AS thought", cases)


def judged(
    folder: Path, library: Path, case: Case, *measured: Interval, base: Path | None = None
) -> Verdict:
    """The verdict on a case, with intervals instead of a clock."""
    left = list(measured)
    return gate.judge(
        asked(folder, case),
        Builds(base or library, library, folder),
        case,
        0.05,
        1,
        lambda case, seed: left.pop(0),
    )


MATCH = Case("match", "SELECT reasoning_match('cache', thought) FROM gate")
SLOW, EVEN = Interval(1.2, 1.1, 1.3), Interval(1.0, 0.9, 1.1)


def test_an_alarm_has_to_show_twice(tmp_path: Path, library: Path) -> None:
    assert judged(tmp_path, library, MATCH, SLOW, EVEN).kind == "same"
    assert judged(tmp_path, library, MATCH, SLOW, SLOW).kind == "slower"


def test_a_case_that_is_even_is_measured_once(tmp_path: Path, library: Path) -> None:
    assert judged(tmp_path, library, MATCH, EVEN).kind == "same"


def test_different_answers_are_never_timed(tmp_path: Path, library: Path) -> None:
    verdict = judged(tmp_path, library, Case("random", "SELECT random()"))
    assert verdict.kind == "different"
    assert verdict.fails
    assert "1 rows in the base, 1 in the new build" in verdict.why


def test_what_the_base_cannot_do_is_new(tmp_path: Path, library: Path) -> None:
    source, base = tmp_path / "base.c", tmp_path / "base.so"
    source.write_text(WITHOUT_FUNCTIONS)
    include = ROOT / "csrc" / "vendor" / "sqlite"
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{include}", "-o", base, source], check=True)
    verdict = judged(tmp_path, library, MATCH, base=base)
    assert (verdict.kind, verdict.fails) == ("new", False)
    assert "no such function: reasoning_match" in verdict.why


def test_the_page_names_what_is_slower() -> None:
    verdicts = [Verdict("scan", "slower", SLOW), Verdict("match", "same", EVEN)]
    text = page(verdicts, "v1", 0.05)
    assert "**Slower than v1 by more than 5%**: scan." in text
    assert "| scan | 1.200 | 1.100 to 1.300 | **slower** |" in text
    assert "| match | 1.000 | 0.900 to 1.100 | same |" in text


def test_a_tree_is_compared_with_a_revision_of_itself(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git repository")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    command = [sys.executable, "-m", "benchmarks.gate", "--base", "HEAD", "--threshold", "9"]
    command += ["--blocks", "1", "--pairs", "1", "--scale", "0.002", "--summary", str(summary)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert summary.read_text() == f"before\n{done.stdout[:-1]}"
    assert "| reasoning_bm25 |" in done.stdout


def test_an_unknown_revision_is_wrong_usage() -> None:
    command = [sys.executable, "-m", "benchmarks.gate", "--base", "no-such-revision"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no-such-revision" in done.stderr


def test_the_planted_slow_down_applies(tmp_path: Path) -> None:
    """That the gate notices it takes minutes: ``make bench-check-proof``."""
    planted = ROOT / "benchmarks" / "gate" / "planted" / "slower-scan.patch"
    command = ["patch", "-p1", "--dry-run", "--batch", "--forward", "-i", str(planted)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
