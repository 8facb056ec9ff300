"""The bars of the library's parts, each beside FTS5's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlite_reasoning_fts.compare import building

from .bars import Bar, hold, report
from .corpus import REFERENCE_NAME
from .measured import Measured, WrongAnswer
from .turns import ratio

pytestmark = pytest.mark.corpora(REFERENCE_NAME)

ROOT = Path(__file__).resolve().parent.parent
PROSE_ROWS = 5000


def test_bm25(described: Any, measured: Measured) -> None:
    """Over the agent's own index as a reindex builds it."""
    items = measured.queries("common")[:3]
    table = measured.bench.table(building.SAID)
    database = measured.reader.database

    def asked(function: str) -> Callable[[], list[list[Any]]]:
        sql = (
            f"WITH r AS MATERIALIZED (SELECT {function} AS rank FROM {table.sql} "
            f"WHERE {table.name} MATCH ?) SELECT count(*), total(rank) FROM r"
        )
        return lambda: [database.all(sql, (item.query.fts5,)) for item in items]

    own = asked(f"reasoning_bm25({table.name}, '0')")
    theirs = asked(f"bm25({table.name})")
    for (ours, total), (count, expected) in zip(
        (row for rows in own() for row in rows), (row for rows in theirs() for row in rows),
        strict=True,
    ):  # fmt: skip
        if ours != count or abs(total - expected) > 1e-9 * abs(expected):
            raise WrongAnswer(f"reasoning_bm25 ranks otherwise than bm25: {total}, {expected}")
    hold(described, Bar("reasoning_bm25 / bm25, a common term", 1.2), own, theirs)


def test_unicode61(described: Any, measured: Measured, tmp_path: Path) -> None:
    """Both tokenizers called directly from one C program, which compares their tokens first."""
    prose = "\n".join(m.thought for m in measured.texts.messages[:PROSE_ROWS])
    text, program = tmp_path / "prose.txt", tmp_path / "tokenizer"
    text.write_text(prose, encoding="utf-8")
    sources = [ROOT / "benchmarks" / "tokenizer.c"]
    sources += [ROOT / "csrc" / "pure" / name for name in ("unicode61.c", "memory.c")]
    include = [f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'csrc' / 'vendor' / 'sqlite'}"]
    compiler = os.environ.get("CC", "gcc")
    command = [compiler, "-std=c11", "-O2", *include, *sources, "-o", program]
    subprocess.run([*command, "-l:libsqlite3.so.0"], check=True)
    rounds = 1 if described.disabled else 3 * measured.rounds

    def run() -> str:
        done = subprocess.run(
            [program, text, str(rounds)], check=True, capture_output=True, text=True
        )
        return done.stdout

    pairs = [line.split() for line in described.pedantic(run).splitlines()]
    bar = Bar("FTS5's unicode61 / the library's, English prose", 3, at_least=True)
    report(described, bar, ratio([(float(theirs), float(own)) for theirs, own in pairs]))
