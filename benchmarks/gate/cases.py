"""What is asked of both builds: SQL alone, for the Python around it may differ between versions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw

from sqlite_reasoning_fts.adapters import find_adapter
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.reader import Reader

ENTRY_POINT = "sqlite3_reasoningfts_init"
MMAP_BYTES = 1 << 34
SHOWN = 400
"""Rows whose snippets are made."""

MIXED = ("Größe café naïve Ελλάδα Кириллица 漢字かな ไทย don't x\u0301y ﬁn 1½ 😀 ", 400)
"""A piece of text that no shortcut for ASCII covers, and how often it stands in a row."""


@dataclass(frozen=True)
class Case:
    """One statement; its rows are the answer."""

    name: str
    sql: str
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Setting:
    """An archive as both builds see it: the projection as SQL, and the cases."""

    path: Path
    view: str
    cases: tuple[Case, ...]

    def connect(self, library: Path) -> apsw.Connection:
        """A connection with one build loaded and the same temporary tables as any other."""
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.enable_load_extension(True)
        connection.load_extension(str(library), ENTRY_POINT)
        for statement in (
            "PRAGMA temp_store = memory",
            f"PRAGMA mmap_size = {MMAP_BYTES}",
            f"CREATE TEMP VIEW gate AS {self.view}",
            *_TABLES,
        ):
            connection.execute(statement).fetchall()
        connection.execute("INSERT INTO temp.mixed VALUES (1, ?)", (MIXED[0] * MIXED[1],))
        # One transaction, so that what may be remembered between statements is.
        connection.execute("BEGIN")
        return connection


_TABLES = (
    "CREATE TEMP TABLE texts AS SELECT rowid AS id, thought FROM gate WHERE thought IS NOT NULL",
    "CREATE VIRTUAL TABLE temp.indexed USING fts5(thought, content='')",
    "INSERT INTO temp.indexed(rowid, thought) SELECT id, thought FROM texts",
    "CREATE TEMP TABLE mixed(id INTEGER PRIMARY KEY, thought TEXT)",
)


def setting(path: Path) -> Setting:
    """Chooses the words from the archive itself, the same for every run."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.execute("PRAGMA temp_store = memory").fetchall()
        database = Database(connection, path=str(path))
        reader = Reader(database, find_adapter(database, None, None))
        view = reader.projection.select()
        connection.execute(f"CREATE TEMP VIEW gate AS {view}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(temp, indexed, row)")
        rare, common = _terms(connection)
        first, second = _pair(connection)
        spec, stored = reader.spec("thought"), reader.stored("thought")
        scanned = ("temp.gate", spec, reader.thought_number, stored)
    scan = "SELECT rowid FROM reasoning_scan(?, ?, ?, ?, ?)"
    matched = "SELECT id FROM temp.{} WHERE reasoning_match(?, thought)"
    cases = (
        Case("scan, a rare term", scan, (rare, *scanned)),
        Case("scan, a common term", scan, (common, *scanned)),
        Case("scan, a phrase", scan, (f'"{first} {second}"', *scanned)),
        Case("scan, NEAR", scan, (f"NEAR({first} {second}, 8)", *scanned)),
        Case(
            "scan, ranked",
            "SELECT rowid, round(rank, 9) FROM reasoning_scan(?, ?, ?, ?, ?) "
            "ORDER BY rank LIMIT 20",
            (common, *scanned),
        ),
        Case("match, a phrase", matched.format("texts"), (f'"{first} {second}"',)),
        Case("match, mixed scripts", matched.format("mixed"), ('"ελλαδα κιριλλιτσα"',)),
        Case(
            "match, porter",
            "SELECT id FROM temp.texts WHERE id % 4 = 0 "
            "AND reasoning_match_columns('thought, tokenize=porter', ?, thought)",
            (f"{first} AND {common}",),
        ),
        Case(
            "reasoning_bm25",
            "SELECT rowid, round(reasoning_bm25(indexed, '0'), 9) FROM temp.indexed "
            "WHERE indexed MATCH ? ORDER BY 2, 1",
            (common,),
        ),
        Case(
            "snippets",
            "SELECT id, reasoning_snippet_text(?, thought, '[', ']', '...', 16) "
            f"FROM temp.texts LIMIT {SHOWN}",
            (f"{common} OR {first}",),
        ),
    )
    return Setting(path, view, cases)


def _terms(connection: apsw.Connection) -> tuple[str, str]:
    """A rare term, in the middle of them by name, and the most frequent one of five letters."""
    plain = "term GLOB '[a-z]*' AND length(term) > 4"
    rare: Sequence[Any] = connection.execute(
        f"SELECT term FROM temp.words WHERE doc BETWEEN 1 AND 20 AND {plain} ORDER BY term"
    ).fetchall()
    common = connection.execute(
        f"SELECT term FROM temp.words WHERE {plain} ORDER BY doc DESC, term LIMIT 1"
    ).fetchall()
    return str(rare[len(rare) // 2][0]), str(common[0][0])


def _pair(connection: apsw.Connection) -> tuple[str, str]:
    """Two words that stand next to each other somewhere."""
    for (text,) in connection.execute("SELECT thought FROM temp.texts ORDER BY id"):
        words = str(text).split()
        for first, second in pairwise(words):
            if (
                min(len(first), len(second)) > 4
                and (first + second).isascii()
                and (first + second).isalpha()
            ):
                return first.lower(), second.lower()
    raise LookupError("the archive has no two plain words in a row")
