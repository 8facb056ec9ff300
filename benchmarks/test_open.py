"""What a program pays for one search: ``rf.open`` and a query in a new process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .bars import Bar, report
from .corpus import REFERENCE_NAME
from .measured import Measured, WrongAnswer
from .turns import ratio

ROOT = Path(__file__).resolve().parent.parent

# Both sides read the same index, so that what is beyond is opening, recognising and the answer.
OPENED = """
import json, sys, time
path, query = sys.argv[1:]
begun = time.perf_counter()
import sqlite_reasoning_fts as rf
rf.open  # the package imports its parts when they are first named
imported = time.perf_counter()
with rf.open(path) as archive:
    found = archive.search(query, scope="said", syntax="fts5")
done = time.perf_counter()
print(json.dumps([imported - begun, done - imported, sorted(hit.key for hit in found.hits)]))
"""
PLAIN = """
import json, sys, time
path, query = sys.argv[1:]
begun = time.perf_counter()
import apsw
imported = time.perf_counter()
connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
found = connection.execute(
    "SELECT m.id, snippet(messages_fts, 0, '[', ']', '...', 16) FROM messages_fts "
    "JOIN messages AS m ON m.id = messages_fts.rowid JOIN sessions AS s ON s.id = m.session_id "
    "WHERE messages_fts MATCH ? AND (m.active = 1 OR m.compacted = 1) ORDER BY rank, m.id LIMIT 20",
    (query,),
).fetchall()
done = time.perf_counter()
print(json.dumps([imported - begun, done - imported, sorted(row[0] for row in found)]))
"""


def run(program: str, path: Path, query: str) -> tuple[float, float, list[int]]:
    """Seconds to import, seconds beyond, the keys."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), query],
        check=True, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    imported, beyond, keys = json.loads(done.stdout)
    return imported, beyond, keys


@pytest.mark.corpora(REFERENCE_NAME)
def test_search_in_a_new_process(described: Any, measured: Measured) -> None:
    """Against the same index asked by hand, through the same SQLite."""
    query = measured.queries("rare")[0].text
    pairs: list[tuple[float, float]] = []
    imports: list[float] = []

    def both() -> None:
        _, plain, expected = run(PLAIN, measured.path, query)
        imported, opened, keys = run(OPENED, measured.path, query)
        if keys != expected:
            raise WrongAnswer(f"rf.open answers {query} wrongly: {keys}, {expected} expected")
        pairs.append((opened, plain))
        imports.append(imported)

    described.pedantic(both, rounds=measured.rounds, warmup_rounds=1)
    described.extra_info.update(
        table="open", route="rf.open and a rare term", queries=1,
        seconds=statistics.median(opened for opened, _ in pairs),
        import_seconds=statistics.median(imports),
        ratios={"plain connection": vars(ratio(pairs))},
    )  # fmt: skip
    beyond = [opened * 1000 for opened, _ in pairs]
    milliseconds = ratio([(one, 1.0) for one in beyond])
    report(described, Bar("rf.open and a rare term beyond the import, in ms", 50), milliseconds)
