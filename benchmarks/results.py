"""Results of a run, as they are kept: what pytest-benchmark wrote, less what nobody reads again."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Case:
    """One case: what was measured, the median seconds of one query (or build, or search), and its
    ratio to the limit that ran by turns with it, with quartiles; ``None`` where it had none."""

    table: str
    corpus: str
    route: str
    kind: str = ""
    order: str = ""
    scope: str = ""
    cache: str = "warm"
    seconds: float = 0.0
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What identifies it from run to run."""
        parts = (self.table, self.corpus, self.route, self.kind, self.order, self.scope)
        return " / ".join(part for part in parts if part)


@dataclass(frozen=True)
class Figure:
    """A bar, and what was measured: a ratio, but for bars that have no peer."""

    what: str
    bound: float
    at_least: bool
    ratio: float
    low: float
    high: float
    reached: bool


@dataclass(frozen=True)
class Results:
    """A run: the machine, the versions, the corpora's sizes, the bars, the cases."""

    machine: Mapping[str, Any]
    corpora: Mapping[str, Mapping[str, Any]]
    bars: tuple[Figure, ...]
    cases: tuple[Case, ...]

    def of(self, table: str, corpus: str | None = None) -> list[Case]:
        """The cases of a table, of one corpus or of all."""
        return [
            case
            for case in self.cases
            if case.table == table and (corpus is None or case.corpus == corpus)
        ]

    def write(self, path: Path) -> None:
        """As JSON, a line a case, so that two runs can be told apart line by line."""
        head = json.dumps({"machine": self.machine, "corpora": self.corpora}, indent=1)
        bars = ",\n".join(json.dumps(asdict(bar)) for bar in self.bars)
        cases = ",\n".join(json.dumps(_short(case)) for case in self.cases)
        path.write_text(f'{head[:-2]},\n "bars": [\n{bars}\n],\n "cases": [\n{cases}\n]}}\n')


def load(path: Path) -> Results:
    """What ``Results.write`` wrote."""
    read = json.loads(path.read_text(encoding="utf-8"))
    return Results(
        machine=read["machine"],
        corpora=read["corpora"],
        bars=tuple(Figure(**bar) for bar in read["bars"]),
        cases=tuple(Case(**case) for case in read["cases"]),
    )


def latest() -> Path:
    """The newest of the results that are kept; their names are dates."""
    return max(FOLDER.glob("*.json"))


CORPUS_FACTS = ("rows", "rows_with_reasoning", "reasoning_characters")
MACHINE_FACTS = ("sqlite_version", "page_size", "mmap_bytes", "simd_level")
CASE_FACTS = ("bytes", "bytes_of_text", "bytes_of_full", "hits", "import_seconds", "resident_bytes")


def collect(path: Path) -> Results:
    """Results of the JSON that ``pytest --benchmark-json`` wrote."""
    read = json.loads(path.read_text(encoding="utf-8"))
    cases: list[Case] = []
    bars: list[Figure] = []
    corpora: dict[str, dict[str, Any]] = {}
    facts: dict[str, Any] = {}
    for benchmark in read["benchmarks"]:
        extra = benchmark["extra_info"]
        corpora[extra["corpus"]] = {name: extra[name] for name in CORPUS_FACTS}
        facts = {name: extra[name] for name in MACHINE_FACTS}
        bars += [
            Figure(**{name: bar[name] for name in Figure.__dataclass_fields__})
            for bar in extra.get("bars", ())
        ]
        if "table" in extra:
            cases.append(_case(extra, benchmark["stats"]["median"]))
    info = read["machine_info"]
    machine = {
        "date": read["datetime"][:10],
        "processor": info.get("cpu", {}).get("brand_raw", platform.processor()),
        "cores": info.get("cpu", {}).get("count"),
        "system": f"{info['system']} {info['machine']}",
        "python": info["python_version"],
        **facts,
    }
    return Results(machine, corpora, tuple(bars), tuple(cases))


def _case(extra: Mapping[str, Any], median: float) -> Case:
    fetch = extra.get("ratios", {})
    limit = next(iter(fetch.values()), {})
    queries = extra.get("queries", 1)
    return Case(
        table=extra["table"],
        corpus=extra["corpus"],
        route=extra["route"],
        kind=extra.get("kind", ""),
        order=extra.get("order", ""),
        scope=extra.get("scope", ""),
        cache=extra["cache"],
        seconds=_digits(extra.get("seconds", median) / queries),
        # The limit ran once beside all queries of the case.
        **{name: _digits(limit[name] / queries) for name in ("ratio", "low", "high") if limit},
        facts={name: extra[name] for name in CASE_FACTS if name in extra},
    )


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def _short(case: Case) -> dict[str, Any]:
    defaults = Case("", "", "")
    return {name: value for name, value in asdict(case).items() if value != getattr(defaults, name)}


def pairs(first: Results, second: Results) -> Iterator[tuple[str, float, float]]:
    """Every warm ratio that two runs report: its name, and what each of them found."""
    seen = {case.name: case.ratio for case in second.cases if case.cache == "warm" and case.ratio}
    for case in first.cases:
        if case.ratio and case.cache == "warm" and case.name in seen:
            yield case.name, case.ratio, float(seen[case.name] or 0)
    bars = {bar.what: bar.ratio for bar in second.bars}
    for bar in first.bars:
        if bar.what in bars:
            yield f"bar / {bar.what}", bar.ratio, bars[bar.what]
