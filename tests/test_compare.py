"""A comparison: what it measures, and that a design with a wrong answer cannot pass."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from planted import EXACT, FAULTS, Wrong

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts import report
from sqlite_reasoning_fts.compare.workbench import Workbench
from sqlite_reasoning_fts.designs import STORED, Design


@pytest.fixture(scope="module")
def comparison(demo_path: Path) -> rf.Comparison:
    with rf.open(demo_path) as archive:
        return archive.compare(repeat=2)


def test_every_design_but_like_agrees_with_fts5(comparison: rf.Comparison) -> None:
    assert comparison.agrees
    assert {d.name: d.agrees for d in comparison.designs} == {
        "like": False,
        "scan": True,
        "blocks": True,
        "terms": True,
        "full": True,
        "column": True,
    }
    assert {d.design for d in comparison.disagreements} == {"like"}


def test_five_queries_of_every_kind_are_asked(comparison: rf.Comparison) -> None:
    asked: dict[str, set[str]] = {}
    for entry in comparison.latency:
        asked.setdefault(entry.kind, set()).add(entry.query)
    assert {kind: len(queries) for kind, queries in asked.items()} == dict.fromkeys(
        ("rare", "common", "absent", "phrase", "and", "or", "not", "prefix", "near"), 5
    )


def test_the_kinds_are_what_they_say(comparison: rf.Comparison) -> None:
    hits = {
        (e.kind, e.query): e.hits
        for e in comparison.latency
        if (e.design, e.scope, e.order) == ("column", "thought", "newest")
    }
    for (kind, _), count in hits.items():
        if kind == "absent":
            assert count == 0
        if kind == "rare":
            assert count <= 20
        if kind == "common":
            assert count > 0.05 * comparison.rows_with_reasoning
        if kind in ("phrase", "near"):
            assert count >= 0
    assert any(count for (kind, _), count in hits.items() if kind == "phrase")


def test_both_orders_and_scopes_are_timed_for_every_design(comparison: rf.Comparison) -> None:
    timed = {(e.design, e.order, e.scope) for e in comparison.latency}
    for design in EXACT:
        for order in ("newest", "rank"):
            for scope in ("thought", "all"):
                assert (design, order, scope) in timed
    assert ("like", "newest", "all") in timed
    assert ("like", "rank", "all") not in timed


def test_quartiles_enclose_the_median(comparison: rf.Comparison) -> None:
    for entry in comparison.latency:
        assert 0 < entry.p25_ms <= entry.median_ms <= entry.p75_ms
        assert entry.runs >= 1


def test_only_a_stored_index_has_bytes_and_build_time(comparison: rf.Comparison) -> None:
    cost = {d.name: d for d in comparison.designs}
    for name in ("like", "scan"):
        assert (cost[name].bytes, cost[name].build_seconds, cost[name].growth_of_file) == (0, 0, 0)
    for name in set(EXACT) & set(STORED):
        assert cost[name].bytes > 0
        assert cost[name].build_seconds > 0
        assert cost[name].growth_of_file == pytest.approx(
            cost[name].bytes / comparison.archive.bytes
        )
    assert cost["full"].bytes < cost["column"].bytes  # the column keeps a copy of the text


def test_bytes_are_those_that_a_file_of_its_own_has(
    demo_path: Path, comparison: rf.Comparison, tmp_path: Path
) -> None:
    """``full`` built by hand in another file, its size read off the file."""
    with rf.open(demo_path) as archive:
        rows = archive._reader.database.all(
            "SELECT rowid, thought FROM temp.reasoning_projection WHERE thought IS NOT NULL"
        )
    connection = apsw.Connection(str(tmp_path / "full.db"))
    connection.execute("BEGIN; CREATE VIRTUAL TABLE f USING fts5(thought, content='')")
    connection.executemany("INSERT INTO f(rowid, thought) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO f(f) VALUES ('optimize'); COMMIT; VACUUM")
    connection.close()
    full = next(d for d in comparison.designs if d.name == "full")
    assert full.bytes == pytest.approx((tmp_path / "full.db").stat().st_size, rel=0.05)


def test_the_column_changes_the_default_search_and_reasoning_bm25_mends_it(
    comparison: rf.Comparison,
) -> None:
    found = {entry.ranker: entry for entry in comparison.default_search}
    plain, filtered, mended = (
        found[name] for name in ("bm25", "bm25, column filter", "reasoning_bm25")
    )
    assert not plain.same_rows
    assert not plain.same_order
    assert not plain.same_ranks
    assert filtered.same_rows
    assert not filtered.same_order
    assert not filtered.same_ranks
    assert mended.same_rows
    assert mended.same_order
    assert mended.same_ranks
    assert plain.changed_top10
    assert not mended.changed_top10


def test_the_same_seed_asks_the_same_queries(demo_path: Path, comparison: rf.Comparison) -> None:
    with rf.open(demo_path) as archive:
        again = archive.compare(designs=["column"], repeat=1)
        other = archive.compare(designs=["column"], repeat=1, seed=1)
    queries = {e.query for e in comparison.latency}
    assert {e.query for e in again.latency} == queries
    assert {e.query for e in other.latency} != queries


def test_given_queries_are_asked_and_their_kind_is_told(demo_path: Path) -> None:
    queries = ['"of the"', "NEAR(of the)", "the", "qqqqzzzz", "th*", "a AND b", "a OR b", "a NOT b"]
    with rf.open(demo_path) as archive:
        found = archive.compare(designs=["scan"], queries=["# a comment", "", *queries], repeat=1)
    kinds = {e.query: e.kind for e in found.latency}
    assert kinds == dict(
        zip(
            queries,
            ["phrase", "near", "common", "absent", "prefix", "and", "or", "not"],
            strict=True,
        )
    )
    assert found.agrees


@pytest.mark.parametrize(
    "query",
    [
        'content : linux OR thought : "of the"',
        "{content thought} : the NOT thought : of",
        "- thought : the",
        '"" OR the',
        'the AND "..."',
        "(the OR of) AND (thought : is OR content : in)",
        "NEAR(of the, 3) AND (thought : ^the OR content : the)",
    ],
)
def test_column_filters_and_groups_agree_in_every_scope(demo_path: Path, query: str) -> None:
    with rf.open(demo_path) as archive:
        found = archive.compare(designs=EXACT, queries=[query], repeat=1)
    assert not found.disagreements


def test_fts5_itself_ranks_a_near_group_below_or_by_the_order_of_reading(
    connection: apsw.Connection,
) -> None:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    rows = ["a b c c c", "a x b z c", "a b c", "z", "q"]
    connection.executemany("INSERT INTO t(x) VALUES (?)", [(row,) for row in rows])
    sql = "SELECT rowid, rank FROM t('NEAR(\"a b\" c) OR z') ORDER BY rowid"
    upwards = dict(connection.execute(sql))
    downwards = dict(connection.execute(f"{sql} DESC"))
    assert upwards.keys() == downwards.keys()
    assert upwards[2] != downwards[2]


@pytest.mark.parametrize("query", ['NEAR("of the" is) OR "in the"', "the NOT NEAR(of the, 3)"])
def test_where_fts5_has_no_stable_ranks_the_rows_still_have_to_agree(
    demo_path: Path, query: str
) -> None:
    with rf.open(demo_path) as archive:
        assert not archive._reader.parse(query, "fts5").has_stable_ranks
        found = archive.compare(designs=EXACT, queries=[query], repeat=1)
    assert not found.disagreements


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("design", EXACT)
def test_a_planted_fault_is_found(
    demo_path: Path, monkeypatch: pytest.MonkeyPatch, design: str, fault: str
) -> None:
    build = Workbench.design

    def planted(self: Workbench, name: str) -> Design:
        return Wrong(build(self, name), fault)

    monkeypatch.setattr(Workbench, "design", planted)
    with rf.open(demo_path) as archive:
        found = archive.compare(designs=[design], queries=["the"], repeat=1)
    assert not found.agrees
    assert not found.designs[0].agrees
    assert found.summary[-1].startswith("WRONG ANSWERS")


def test_an_archive_without_reasoning_is_said_to_have_none(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE m(said, thought); INSERT INTO m VALUES ('a b', NULL)")
    connection.close()
    with rf.open(path, table="m", said=["said"], thought=["thought"]) as archive:
        found = archive.compare(repeat=1)
    assert found.agrees
    assert "nothing to make searchable" in found.summary[0]


def test_markdown_has_the_cells_of_the_terminal(comparison: rf.Comparison) -> None:
    from rich.console import Console

    console = Console(width=400, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    report.terminal(comparison, console)
    shown = console.export_text()
    printed = report.markdown(comparison)
    for table in report.tables(comparison):
        for row in table.rows:
            for cell in row:
                assert cell in shown
                assert cell.replace("|", "\\|") in printed
    for sentence in comparison.summary:
        assert sentence in printed
