"""One answer from every design: any query, any scope, the same rows, ranks and order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.compare.building import COLUMN, ORACLE, SAID, TABLE_OF, THOUGHT_ALL
from sqlite_reasoning_fts.compare.oracle import OracleTables
from sqlite_reasoning_fts.compare.workbench import Workbench
from sqlite_reasoning_fts.designs import EVERY_NAME, Design, Full, Rechecked, Scan
from sqlite_reasoning_fts.selection import select

WORDS = ("ab", "cd", "ef", "gh", "ij")
COLUMNS = ("one", "two", "thought")


def query_texts() -> st.SearchStrategy[str]:
    """Queries in FTS5's grammar over a small vocabulary, so that most of them match."""
    word = st.sampled_from(WORDS)
    phrase = st.one_of(
        word.map(lambda w: f'"{w}"'),
        st.lists(word, min_size=2, max_size=3).map(lambda ws: f'"{" ".join(ws)}"'),
        word.map(lambda w: f"{w[0]}*"),
        word.map(lambda w: f"^{w}"),
        st.tuples(st.lists(word, min_size=2, max_size=3), st.integers(0, 4)).map(
            lambda t: f"NEAR({' '.join(t[0])}, {t[1]})"
        ),
    )
    names = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=2, unique=True)
    leaf = st.one_of(
        phrase,
        st.tuples(st.booleans(), names, phrase).map(
            lambda t: f"{'- ' if t[0] else ''}{{{' '.join(t[1])}}} : {t[2]}"
        ),
    )
    return st.recursive(
        leaf,
        lambda inner: st.tuples(inner, st.sampled_from(("AND", "OR", "NOT")), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        max_leaves=5,
    )


def texts() -> Iterator[tuple[str, str, str | None]]:
    """Rows in which every pair of words meets, in one column or across them."""
    for number in range(150):
        text = [WORDS[(number * k + number // k) % len(WORDS)] for k in range(1, 3 + number % 11)]
        cut, end = number % 4, len(text) - number % 3
        thought = " ".join(text[cut:end]) if number % 5 else None
        yield " ".join(text[:cut]), " ".join(reversed(text)), thought


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    path = Path(tmp_path_factory.mktemp("designs")) / "a.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE m(one, two, thought)")
    connection.executemany("INSERT INTO m VALUES (?, ?, ?)", texts())
    connection.close()
    with (
        rf.open(path, table="m", said=["one", "two"], thought=["thought"]) as archive,
        archive._workbench() as opened,
    ):
        opened.build(tuple(dict.fromkeys((*ORACLE, *TABLE_OF.values()))))
        yield opened


def designs(bench: Workbench) -> list[Design]:
    """Every design, those with an index with and without the agent's own beside it."""
    found = []
    for name in EVERY_NAME:
        design = bench.design(name)
        if isinstance(design, Full | Rechecked):
            found += [replace(design, said=bench.table(SAID)), replace(design, said=None)]
        elif name != "like":
            found.append(design)
    return found


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=query_texts(), scope=st.sampled_from(("said", "thought", "all")))
# FTS5 loses all hits of a row that matches.
@example(text='("ab" OR (("ab" OR "cd") AND ("ab" OR "cd")))', scope="thought")
def test_every_design_gives_the_oracles_answer(bench: Workbench, text: str, scope: str) -> None:
    reader = bench.reader
    tables = {
        "said": bench.table(SAID),
        "thought": bench.table(THOUGHT_ALL),
        "all": bench.table(COLUMN),
    }
    oracle = OracleTables(reader, tables)
    query = reader.parse(text, "fts5")
    expected = oracle.ranked(query, scope)
    for design in designs(bench):
        for ranked in (True, False):
            matches = design.matches(query, scope, ranked=ranked)
            order = "rank" if ranked else "newest"
            rows = select(reader, matches, order=order, limit=1000).rows
            if ranked and query.has_stable_ranks:
                found = [(row.key, pytest.approx(row.rank, rel=2e-9)) for row in rows]
                assert list(expected) == found, design
            else:
                assert {key for key, _ in expected} == {row.key for row in rows}, design


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=query_texts())
def test_the_origin_is_where_the_querys_hits_are(bench: Workbench, text: str) -> None:
    """A row whose query has one leaf: the oracle of the origin is which scopes match it."""
    reader = bench.reader
    query = reader.parse(text, "fts5")
    if query.tree["op"] != "near":
        return
    scan = Scan(reader)
    by_scope = {
        scope: {
            row.rowid: row.origin
            for row in select(
                reader, scan.matches(query, scope, ranked=False), order="newest", limit=1000
            ).rows
        }
        for scope in ("said", "thought", "all")
    }
    for rowid, origin in by_scope["all"].items():
        said, thought = rowid in by_scope["said"], rowid in by_scope["thought"]
        expected = {(True, False): "said", (False, True): "thought", (True, True): "both"}
        assert origin == expected[said, thought]
    assert by_scope["all"].keys() == by_scope["said"].keys() | by_scope["thought"].keys()
