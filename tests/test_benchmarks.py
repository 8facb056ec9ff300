"""The benchmark suite refuses wrong answers, and pages show what it measured last."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import EXACT

from benchmarks import tables
from benchmarks.report import BLOCKS, PAGES, blocks_of, filled
from benchmarks.results import Case, Figure, Results, latest, load, pairs
from benchmarks.turns import ratio

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("design", EXACT)
def test_a_planted_wrong_answer_fails_the_benchmarks_of_its_design(
    tmp_path: Path, design: str
) -> None:
    """Run as they are, but for a plugin that takes the first row out of every answer."""
    plugin = tmp_path / "planted_fault.py"
    plugin.write_text(
        "from planted import Wrong\n"
        "from benchmarks.measured import Measured\n"
        "right = Measured.design\n"
        "def design(self, name):\n"
        f"    found = right(self, name)\n"
        f"    return Wrong(found, 'a row is lost') if name == {design!r} else found\n"
        "Measured.design = design\n"
    )
    command = [sys.executable, "-m", "pytest", "benchmarks/test_latency.py", "-p", "planted_fault"]
    command += ["-k", f"reference and test_thought and common and {design}-", "--no-header", "-rA"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'tests'}"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    failed = [line for line in lines if line.startswith("FAILED")]
    assert len(failed) == 2, done.stdout[-3000:]
    assert all(f"WrongAnswer: {design} answers" in line for line in failed) or (
        f"WrongAnswer: {design} answers" in done.stdout
    )
    assert not [line for line in lines if line.startswith("PASSED")]


def test_the_pages_show_what_was_measured_last() -> None:
    results = load(latest())
    shown: set[str] = set()
    for name in PAGES:
        path = ROOT / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            assert filled(text, results) == text, f"{name}: python -m benchmarks.report pages"
            shown.update(blocks_of(text))
    assert shown == set(BLOCKS)


def test_a_kept_report_is_the_table_of_its_results() -> None:
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        assert path.with_suffix(".md").read_text(encoding="utf-8") == tables.whole(load(path))


def case(**facts: Any) -> Case:
    return Case(**{"table": "latency", "corpus": "reference", "route": "scan", **facts})


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = Results(
        machine={"date": "2026-01-01"},
        corpora={"reference": {"rows": 1}},
        bars=(Figure("a / b", 1.2, False, 1.1, 1.0, 1.2, True),),
        cases=(case(kind="rare", seconds=0.5, ratio=2.0, low=1.9, high=2.1, facts={"bytes": 1}),),
    )
    results.write(tmp_path / "results.json")
    assert load(tmp_path / "results.json") == results
    assert json.loads((tmp_path / "results.json").read_text())["cases"][0]["kind"] == "rare"


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=1))
def test_a_ratio_lies_between_its_quartiles(times: list[tuple[float, float]]) -> None:
    found = ratio(times)
    assert found.low <= found.ratio * (1 + 1e-12)
    assert found.ratio <= found.high * (1 + 1e-12)
    assert found.pairs == len(times)


def test_only_warm_ratios_of_the_same_case_are_compared() -> None:
    def run(value: float) -> Results:
        bar = Figure("a / b", 1.2, False, value, value, value, True)
        cold = case(table="cold", cache="cold", ratio=value)
        return Results({}, {}, (bar,), (case(kind="rare", ratio=value), cold, case(kind="or")))

    assert list(pairs(run(1.0), run(2.0))) == [
        ("latency / reference / scan / rare", 1.0, 2.0),
        ("bar / a / b", 1.0, 2.0),
    ]
