"""What of a stored row becomes searchable, and what never does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from planted import EXACT
from tables import open_table

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.decoding import decoded, joined_once, unix_seconds


def decode(stored: Any) -> str | None:
    """A stored value, decoded by SQLite."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t(x)")
    connection.execute("INSERT INTO t VALUES (?)", (stored,))
    return connection.execute(f"SELECT {decoded('x')} FROM t").get


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (None, None),
        ("", ""),
        ("plain text", "plain text"),
        ("[a list that is no JSON", "[a list that is no JSON"),
        ('"quoted"', "quoted"),
        (json.dumps([{"type": "text", "text": "需要链接 Ärger"}]), "需要链接 Ärger"),
        (json.dumps(json.dumps([{"text": "encoded twice"}])), "encoded twice"),
        (json.dumps(json.dumps(json.dumps([{"text": "three times"}]))), "three times"),
        (json.dumps({"summary": ["first", "second"]}), "first\nsecond"),
        (json.dumps([{"type": "thinking", "thinking": "t", "signature": "c2lnbg=="}]), "t"),
        (json.dumps({"content": [{"type": "reasoning_text", "text": "deep"}]}), "deep"),
    ],
)
def test_text_is_decoded_from_however_it_is_stored(stored: Any, text: str | None) -> None:
    assert decode(stored) == text


@pytest.mark.parametrize(
    "stored",
    [
        [{"type": "reasoning.encrypted", "data": "gAAAAABh"}],
        [{"type": "reasoning", "encrypted_content": "gAAAAABh", "summary": []}],
        [{"type": "redacted_thinking", "data": "gAAAAABh"}],
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}],
        [{"type": "text", "text": "data:image/png;base64,iVBORw0KGgo="}],
    ],
)
def test_encrypted_and_binary_parts_are_never_text(stored: Any) -> None:
    assert decode(json.dumps(stored)) is None


def test_the_same_text_in_two_columns_is_kept_once_and_in_order() -> None:
    connection = apsw.Connection(":memory:")
    expression = joined_once(["'b'", "'a'", "'b'", "NULL", "''", "'c'"])
    assert connection.execute(f"SELECT {expression}").get == "b\na\nc"


@pytest.mark.parametrize(
    ("stored", "seconds"),
    [
        (1796062050, 1796062050.0),
        (1796062050.25, 1796062050.25),
        (1796062050250, 1796062050.25),
        (1796062050250000, 1796062050.25),
        ("2026-11-30T12:00:00Z", 1796040000.0),
        ("1796062050", 1796062050.0),
        ("no time", None),
        (None, None),
    ],
)
def test_times_become_unix_seconds(stored: Any, seconds: float | None) -> None:
    connection = apsw.Connection(":memory:")
    found = connection.execute(f"SELECT {unix_seconds('t')} FROM (SELECT ? AS t)", (stored,)).get
    assert found == (None if seconds is None else pytest.approx(seconds, abs=0.001))


def test_a_text_key_names_the_hit_and_orders_ties(tmp_path: Path) -> None:
    rows = [(key, "zebra", "quagga") for key in ("b", "a", "Z", "é")]
    schema = "CREATE TABLE m(id TEXT PRIMARY KEY, said, thought) WITHOUT ROWID"
    with open_table(
        tmp_path / "a.db", schema, rows, key="id", said=["said"], thought=["thought"]
    ) as archive:
        for design in EXACT:
            found = archive.search("quagga", scope="thought", design=design)
            assert [hit.key for hit in found.hits] == ["Z", "a", "b", "é"]


def test_a_nul_in_the_reasoning_separates_words_and_hides_nothing(tmp_path: Path) -> None:
    with open_table(
        tmp_path / "a.db", "CREATE TABLE m(thought)", [("before\0after",)], thought=["thought"]
    ) as archive:
        for design in EXACT:
            assert archive.search("after", scope="thought", design=design).hits
        report = archive.audit()
        assert report.reasoning_characters == len("before\0after")


def test_two_thought_columns_with_one_text_are_one_hit_and_counted(tmp_path: Path) -> None:
    with open_table(
        tmp_path / "a.db",
        "CREATE TABLE m(said, thought, again)",
        [("", "one quagga", "one quagga"), ("", "one", "two")],
        said=["said"],
        thought=["thought", "again"],
    ) as archive:
        report = archive.audit()
        assert (report.rows_duplicate, report.reasoning_characters) == (1, 10 + 7)
        assert len(archive.search("quagga", scope="thought").hits) == 1


def test_unreadable_reasoning_is_counted_and_not_searched(tmp_path: Path) -> None:
    secret = json.dumps([{"type": "reasoning", "encrypted_content": "gAAAAABh"}])
    with open_table(
        tmp_path / "a.db", "CREATE TABLE m(thought)", [(secret,), ("plain",)], thought=["thought"]
    ) as archive:
        report = archive.audit()
        assert (report.rows_with_reasoning, report.rows_unreadable) == (1, 1)
        found = archive.search("gAAAAABh", scope="thought")
        assert (found.hits, found.coverage.rows_unreadable) == ((), 1)


@pytest.mark.parametrize(
    "name", ["t", "x", "reasoning_said", "reasoning_column", "Thought", "Rowid"]
)
def test_a_said_column_may_have_any_name(tmp_path: Path, name: str) -> None:
    with open_table(
        tmp_path / "a.db",
        f'CREATE TABLE m(id, "{name}", reason, said_thought)',
        [(1, "zebra", "quagga", "okapi")],
        key="id",
        said=[name, "said_thought"],
        thought=["reason"],
    ) as archive:
        for word in ("zebra", "okapi"):
            for design in EXACT:
                assert archive.search(word, design=design).hits
        assert archive.compare(repeat=1).agrees


def test_the_agents_columns_may_have_names_of_ours(tmp_path: Path) -> None:
    with open_table(
        tmp_path / "a.db",
        'CREATE TABLE m(key, "rank", "th""ought", "select")',
        [("zebra", "okapi", "quagga", "s1")],
        said=["key", "rank"],
        thought=['th"ought'],
        session="select",
    ) as archive:
        for word in ("zebra", "okapi", "quagga"):
            for design in (*EXACT, "like"):
                found = archive.search(word, scope="all", design=design)
                assert [hit.session_id for hit in found.hits] == ["s1"], (word, design)


def test_a_view_is_read_by_its_key(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE t(a TEXT, b TEXT); INSERT INTO t VALUES ('k1', 'quagga'), ('k2', 'okapi');"
        "CREATE VIEW m AS SELECT a AS k, b AS thought FROM t"
    )
    connection.close()
    with rf.open(path, table="m", key="k", thought=["thought"]) as archive:
        for design in EXACT:
            found = archive.search("quagga", scope="thought", design=design)
            assert [hit.key for hit in found.hits] == ["k1"]
