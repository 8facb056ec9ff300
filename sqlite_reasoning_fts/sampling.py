"""Drawing rows and tokens from an archive, seeded, so that a report can be repeated."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from .database import as_text
from .errors import QueryError
from .projection import THOUGHT
from .reader import Reader

SAMPLED_ROWS = 200


def sampled_thoughts(reader: Reader, random_: random.Random, count: int) -> list[tuple[int, str]]:
    """Some rows with thought and their text, in order of rowid."""
    rowids = [
        row[0]
        for row in reader.database.rows(
            f"SELECT rowid FROM {reader.source} WHERE {THOUGHT} IS NOT NULL ORDER BY rowid"
        )
    ]
    chosen = sorted(some(random_, rowids, count))
    sql = f"SELECT CAST({THOUGHT} AS BLOB) FROM {reader.source} WHERE rowid = ?"
    return [(rowid, as_text(reader.database.value(sql, (rowid,))) or "") for rowid in chosen]


def tokens_of(texts: Sequence[tuple[int, str]], options: Sequence[str]) -> dict[int, list[str]]:
    """The tokens of some texts in order, as the real tokenizer gives them."""
    import apsw

    tokens: dict[int, list[str]] = {rowid: [] for rowid, _ in texts}
    with closing(apsw.Connection(":memory:")) as memory:
        memory.execute(f"CREATE VIRTUAL TABLE t USING fts5({', '.join(['x', *options])})")
        memory.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        memory.executemany("INSERT INTO t(rowid, x) VALUES (?, ?)", texts)
        for rowid, term in memory.execute('SELECT doc, term FROM v ORDER BY doc, "offset"'):
            tokens[rowid].append(term)
    return tokens


def some(random_: random.Random, items: Sequence[Any], count: int) -> list[Any]:
    return random_.sample(list(items), min(count, len(items)))


def query_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The queries of a list, one a line, each with its number; blank and ``#`` lines are none."""
    queries = [
        (number, line.strip())
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.strip().startswith("#")
    ]
    if not queries:
        raise QueryError("the list of queries is empty", "give one query a line")
    return queries
