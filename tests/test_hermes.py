"""Hermes Agent: what its own search misses, and what the designs find, on archives it wrote."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from planted import EXACT

import sqlite_reasoning_fts as rf


@pytest.fixture
def archive(written_by_hermes: Any) -> Any:
    with rf.open(written_by_hermes.path) as opened:
        yield opened


@pytest.fixture
def shared(data: Path, tmp_path: Path) -> Any:
    path = tmp_path / "state.db"
    shutil.copyfile(data / "archives" / "hermes-0.19.db", path)
    with rf.open(path) as opened:
        yield opened


def test_the_agent_and_its_schema_are_recognised(archive: rf.Archive) -> None:
    assert (archive.info.agent, archive.info.schema_version) == ("hermes", "22")
    assert archive.notes == ()


def test_the_audit_counts_what_the_agent_stored(archive: rf.Archive) -> None:
    found = archive.audit()
    assert found.rows == 13  # twelve messages and the summary of the compaction
    assert found.rows_with_reasoning == 6
    assert found.turns_reasoning_only == 1
    assert found.rows_unreadable == 1
    assert found.rows_duplicate == 2
    assert found.rows_orphaned == 0


def test_the_archive_of_the_shared_data_is_audited(shared: rf.Archive) -> None:
    found = shared.audit()
    assert (found.rows, found.rows_with_reasoning, found.rows_duplicate) == (4, 2, 1)
    assert found.turns_reasoning_only == 1


@pytest.mark.parametrize("token", ["zebrafish", "quokka", "narwhal", "axolotl", "pangolin"])
def test_no_route_of_the_agents_own_reaches_a_token_that_is_only_thought(
    archive: rf.Archive, written_by_hermes: Any, token: str
) -> None:
    routes = archive.audit(token).routes
    assert {route.name for route in routes} == {
        "main index",
        "main index, role tool",
        "main index, its snippets",
        "trigram index",
        "trigram index, role tool",
        "trigram index, its snippets",
        "LIKE fallback (short CJK terms)",
    }
    assert all(route.count == 0 for route in routes)
    assert written_by_hermes.found.get(token, []) == []


@pytest.mark.parametrize("token", ["linker", "sturgeon"])
def test_the_main_route_counts_what_the_agents_own_search_returns(
    archive: rf.Archive, written_by_hermes: Any, token: str
) -> None:
    main = next(route for route in archive.audit(token).routes if route.name == "main index")
    assert main.count == len(written_by_hermes.found[token])


def test_a_routes_sql_can_be_pasted(archive: rf.Archive, written_by_hermes: Any) -> None:
    shell = apsw.Connection(str(written_by_hermes.path))
    for route in archive.audit("linker's").routes + archive.audit("linker").routes:
        assert shell.execute(route.sql).get == route.count
    shell.close()


def test_the_sampled_gap_is_what_only_the_reasoning_holds(archive: rf.Archive) -> None:
    gap = archive.audit().queries
    assert gap.sampled == 6
    assert gap.hit_content is not None
    assert gap.hit_any is not None
    assert gap.hit_content < gap.hit_any < 1  # one of the rows was taken back
    assert gap.gap == pytest.approx(gap.hit_any - gap.hit_content)


def test_the_gap_of_given_queries_counts_their_rows(archive: rf.Archive) -> None:
    gap = archive.audit(queries=["zebrafish", "linker", "nowhere"]).queries
    # zebrafish: one row, only thought; linker: that row, and one that says it.
    assert (gap.sampled, gap.hit_content, gap.hit_any) == (3, pytest.approx(1 / 3), 1.0)


@pytest.mark.parametrize("design", EXACT)
@pytest.mark.parametrize("token", ["zebrafish", "quokka", "narwhal", "axolotl", "pangolin"])
def test_every_design_finds_a_token_that_is_only_thought(
    archive: rf.Archive, design: str, token: str
) -> None:
    found = archive.search(token, scope="thought", design=design)
    assert len(found.hits) == 1
    hit = found.hits[0]
    assert (hit.origin, hit.in_default_search) == ("thought", False)
    assert f"[{token}]" in hit.snippet
    assert archive.search(token, design=design).hits == ()


@pytest.mark.parametrize("design", EXACT)
@pytest.mark.parametrize("token", ["zebrafish", "quokka"])
def test_the_shared_archives_tokens_are_found(shared: rf.Archive, design: str, token: str) -> None:
    assert len(shared.search(token, scope="all", design=design).hits) == 1


@pytest.mark.parametrize("design", EXACT)
def test_the_same_text_said_and_thought_is_one_hit_of_both_origins(
    archive: rf.Archive, design: str
) -> None:
    found = archive.search("sturgeon", scope="all", design=design)
    assert [(hit.origin, hit.in_default_search) for hit in found.hits] == [("both", True)]


@pytest.mark.parametrize("design", EXACT)
def test_a_row_matches_with_one_word_said_and_the_other_thought(
    archive: rf.Archive, design: str
) -> None:
    found = archive.search("quokka flags", scope="all", design=design)
    assert [hit.origin for hit in found.hits] == ["both"]
    for scope in ("said", "thought"):
        assert archive.search("quokka flags", scope=scope, design=design).hits == ()


@pytest.mark.parametrize("design", EXACT)
def test_a_row_that_was_taken_back_is_hidden_and_the_answer_says_so(
    archive: rf.Archive, design: str
) -> None:
    found = archive.search("walrus", scope="thought", design=design)
    assert found.hits == ()
    assert found.coverage.empty_because is not None
    assert "visibility" in found.coverage.empty_because


@pytest.mark.parametrize("design", [*EXACT, None])
def test_the_default_scope_gives_the_agents_own_rows(
    archive: rf.Archive, written_by_hermes: Any, design: str | None
) -> None:
    found = archive.search("linker", design=design)
    assert [h.key for h in found.hits if h.in_default_search] == written_by_hermes.found["linker"]


def test_the_comparison_agrees_with_fts5_in_every_scope(archive: rf.Archive) -> None:
    found = archive.compare(repeat=1)
    assert found.agrees
    assert [d.name for d in found.designs if d.agrees] == list(EXACT)


def test_an_older_archive_without_a_column_is_read_and_the_lack_is_said(
    written_by_hermes: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    connection = apsw.Connection(str(path))
    connection.execute("ALTER TABLE messages DROP COLUMN codex_reasoning_items")
    connection.execute("ALTER TABLE messages DROP COLUMN reasoning_content")
    connection.close()
    with rf.open(path) as archive:
        assert len(archive.notes) == 2
        assert "codex_reasoning_items" in archive.notes[1]
        assert archive.search("zebrafish", scope="thought").hits
        assert archive.compare(repeat=1).agrees


def test_orphaned_rows_are_counted_and_not_shown(written_by_hermes: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys = off")
    connection.execute("DELETE FROM sessions WHERE id = 's2'")
    connection.close()
    with rf.open(path) as archive:
        assert archive.audit().rows_orphaned == 3
        for design in EXACT:
            assert archive.search("pangolin", scope="thought", design=design).hits == ()
        assert archive.compare(repeat=1).agrees
