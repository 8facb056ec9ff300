"""Hostile queries, specs and texts end with an error, in bounded memory, before they cost much."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

ROOT = Path(__file__).parent.parent
MEGABYTE = 1_000_000


def limit(name: str) -> int:
    """A limit as the C source states it."""
    headers = "".join(path.read_text() for path in sorted((ROOT / "csrc" / "pure").glob("*.h")))
    found = re.search(rf"#define {name} (\d+)\b", headers)
    assert found, name
    return int(found.group(1))


def growth(action: Callable[[], object]) -> int:
    """The most memory that SQLite and the library held at once, in bytes."""
    before = apsw.memory_used()
    apsw.memory_high_water(True)
    action()
    return apsw.memory_high_water() - before


def parse(connection: apsw.Connection, query: str, spec: str = "text") -> str:
    found = connection.execute("SELECT reasoning_parse(?, ?)", (spec, query)).get
    assert isinstance(found, str)
    return found


@dataclass(frozen=True)
class Long:
    """A text in which `@` stands for many times a piece; made when it is needed."""

    frame: str
    piece: str = ""
    times: int = 0

    def __str__(self) -> str:
        return self.frame.replace("@", self.piece * self.times)


TEXT = Long("text")
NAMES = [f"c{number}" for number in range(1990)]
MANY = Long(", ".join(NAMES))


@pytest.mark.parametrize(
    ("query", "spec", "message"),
    [
        (Long("@", "w", 100 * MEGABYTE), TEXT, "has 100000000 bytes; 1000000 are the limit"),
        (Long("@", "one ", MEGABYTE), TEXT, "the query has 4000000 bytes; 1000000 are the limit"),
        (
            Long("@", "w ", 70_000),
            TEXT,
            r"more than 65536 tokens at byte 13\d{4}; shorten the query",
        ),
        (Long('"@"', "w ", 70_000), TEXT, "more than 65536 tokens at byte "),
        (Long("w@", " OR w", 70_000), TEXT, "more than 65536 tokens at byte "),
        (Long("NEAR(@)", "w ", 70_000), TEXT, "more than 65536 tokens at byte "),
        (Long('"@"', "abcdefgh", 10_000), Long("a, tokenize=trigram"), "more than 65536 tokens"),
        (Long("@", "- c1 : w ", 60_000), MANY, "the query takes more than 32 MB at byte "),
        (Long("- c1 : (- c2 : (@))", "w ", 60_000), MANY, "the query takes more than 32 MB"),
        (Long("w"), Long("text@", " ", MEGABYTE), "spec: 1000004 bytes; 100000 are the limit"),
    ],
    ids=lambda value: getattr(value, "frame", None),
)
def test_a_hostile_query_or_spec_is_an_error_in_bounded_memory(
    connection: apsw.Connection, query: Long, spec: Long, message: str
) -> None:
    asked, named = str(query), str(spec)

    def ask() -> None:
        with pytest.raises(apsw.SQLError, match=f"^reasoning_parse: .*{message}"):
            parse(connection, asked, named)

    # The texts themselves, as SQLite holds them, and the library's copy.
    assert growth(ask) < 3 * (len(asked) + len(named)) + 100 * MEGABYTE


@pytest.mark.parametrize(
    ("query", "spec"),
    [
        (Long("@", "w ", 65_536), TEXT),
        (Long('"@"', "w ", 65_536), TEXT),
        (Long("w*@", " OR w*", 65_535), TEXT),
        (Long('"@"', "w", MEGABYTE - 2), TEXT),
        (Long("{" + " ".join(NAMES) + "} : w"), MANY),
        (Long("w"), Long("text@", " ", 100_000 - 4)),
    ],
    ids=lambda value: value.frame[:20],
)
def test_what_is_within_the_limits_is_read(
    connection: apsw.Connection, query: Long, spec: Long
) -> None:
    asked, named = str(query), str(spec)
    tree: list[str] = []
    assert growth(lambda: tree.append(parse(connection, asked, named))) < 100 * MEGABYTE
    assert json.loads(tree[0])["op"] in ("near", "and", "or")


def test_many_words_in_a_spec_take_memory_in_proportion(connection: apsw.Connection) -> None:
    def ask() -> None:
        with pytest.raises(apsw.SQLError, match="error in the constructor of tokenizer"):
            parse(connection, "w", "text, tokenize='unicode61 " + "x " * 49_000 + "'")

    assert growth(ask) < 10 * MEGABYTE


def test_too_many_hits_in_one_row_are_an_error(connection: apsw.Connection) -> None:
    words = limit("RF_TERM_LIMIT") - 1

    def ask() -> None:
        with pytest.raises(apsw.TooBigError):
            connection.execute(
                "SELECT reasoning_match(?, ?)", ("w " * words, "w " * 600)
            ).fetchall()

    assert growth(ask) < 700 * MEGABYTE


def test_a_near_group_that_never_ends_is_an_error(connection: apsw.Connection) -> None:
    query, text = "NEAR(" + "w " * 1200 + ")", "w " * 1200
    with pytest.raises(apsw.TooBigError):
        connection.execute("SELECT reasoning_match(?, ?)", (query, text)).fetchall()
    assert connection.execute("SELECT reasoning_match(?, ?)", (query, "w")).get == 1


def test_the_limits_are_documented() -> None:
    text = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    for name in ("RF_QUERY_LIMIT", "RF_TERM_LIMIT", "RF_SPEC_LIMIT", "RF_DEPTH_LIMIT"):
        assert f"{limit(name):,}" in text
