"""One query in a new process, with nothing of the files in the cache.

Reads from standard input what to ask, pickled, and prints the seconds and the keys of the answer.
Opening the files is not in the time, nor is the start of the process.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw

from sqlite_reasoning_fts.adapters import find_adapter
from sqlite_reasoning_fts.adapters.generic import Columns
from sqlite_reasoning_fts.compare.agreement import LIMIT
from sqlite_reasoning_fts.compare.building import design_over
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.opening import uri
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.selection import ordered

from .measured import MMAP_BYTES, Measured, fetch_sql

ROOT = Path(__file__).resolve().parent.parent


FETCH = "fetch"
"""Asked instead of a design: reads the columns that the reasoning is made of, and nothing else."""


def ask(
    measured: Measured, design: str, query: str, order: str, scope: str = "thought"
) -> tuple[float, list[Any]]:
    """The seconds and the keys, from another process."""
    asked = {
        "archive": str(measured.path),
        "columns": measured.corpus.columns,
        "scratch": measured.bench.path,
        "built": measured.built,
        "design": design,
        "query": query,
        "order": order,
        "scope": scope,
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cold"],
        input=pickle.dumps(asked),
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    seconds, keys = json.loads(done.stdout)
    return seconds, keys


def _answer(asked: Mapping[str, Any]) -> tuple[float, list[Any]]:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri(asked["scratch"], "ro"), flags=flags)
    database = Database(connection, schema="archive", path=asked["archive"])
    database.run("ATTACH ? AS archive", (uri(asked["archive"], "ro"),))
    for schema in ("main", "archive"):
        database.run(f"PRAGMA {schema}.mmap_size = {MMAP_BYTES}")
    columns = Columns(**asked["columns"]) if asked["columns"] else None
    reader = Reader(database, find_adapter(database, None, columns))
    if asked["design"] == FETCH:
        begun = time.perf_counter()
        found = database.value(fetch_sql(reader))
        return time.perf_counter() - begun, [found]
    design = design_over(asked["design"], reader, asked["built"])
    query = reader.parse(asked["query"], "fts5")
    begun = time.perf_counter()
    matches = design.matches(query, asked["scope"], ranked=asked["order"] == "rank")
    rows = list(ordered(reader, matches, asked["order"], limit=LIMIT))
    return time.perf_counter() - begun, [row.key for row in rows]


if __name__ == "__main__":
    json.dump(_answer(pickle.load(sys.stdin.buffer)), sys.stdout)
