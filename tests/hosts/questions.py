"""What every host is asked, about which files, and when two answers are the same.

The questions below are asked of a generated archive, and the examples of docs/sql.md of the
tables that they share: each function has an example there, so each is asked in each host.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import documented

import sqlite_reasoning_fts as rf

Value = str | int | float | None


@dataclass(frozen=True)
class Question:
    """A statement that only reads, and the values of its `:name`s."""

    sql: str
    parameters: Mapping[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The rows, or what the host says is wrong."""

    rows: tuple[tuple[Value, ...], ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Sheet:
    """Questions about one database file, asked one after the other on one connection."""

    path: Path
    questions: tuple[Question, ...]


SPEC = 'content, thought, tokenize="porter unicode61"'

# `turns` is an index with a thought column, `messages_fts...` are the agent's own.
INDEX = f"""
CREATE VIRTUAL TABLE turns USING fts5({SPEC});
INSERT INTO turns(rowid, content, thought) SELECT id, content, reasoning FROM messages;
"""

RIGHT = (
    Question(
        "SELECT id FROM messages WHERE reasoning_match(:query, reasoning) ORDER BY id",
        {"query": '"the object" OR NEAR(file line, 5) NOT semantic*'},
    ),
    Question("SELECT reasoning_match('a', 'b'), reasoning_match('a', NULL)"),
    Question("SELECT reasoning_match('żółw OR 链接', 'Żółw ☃'), reasoning_match('zolw', 'Zółw')"),
    Question(
        "SELECT id FROM messages"
        " WHERE reasoning_match_columns(:spec, :query, content, reasoning) ORDER BY id",
        {"spec": SPEC, "query": "thought : returning AND content : file"},
    ),
    Question(
        "SELECT reasoning_parse(:spec, :query)",
        {"spec": SPEC, "query": '(thought : ^"garbage collection" OR file*) NOT NEAR(a b, 3)'},
    ),
    Question(
        "SELECT rowid, rank, origin"
        " FROM reasoning_scan(:query, 'messages', 'content, reasoning', :thought)"
        " ORDER BY rank, rowid LIMIT 25",
        {"query": "python OR (reasoning : class AND content : object)", "thought": 1},
    ),
    Question(
        "SELECT rowid, origin"
        " FROM reasoning_scan(:query, 'main.messages', 'content, reasoning', '1')"
        " WHERE rowid BETWEEN :low AND :high ORDER BY rowid DESC LIMIT :number",
        {"query": "file OR name", "low": 100, "high": 900, "number": 7},
    ),
    Question(
        "SELECT rowid, bm25(turns), reasoning_bm25(turns, :columns) FROM turns(:query)"
        " ORDER BY rowid",
        {"columns": 1, "query": '"return self" OR garbage'},
    ),
    Question(
        "SELECT rowid, reasoning_bm25(turns, '0 1', :said, :thought) FROM turns(:query)"
        " ORDER BY rowid",
        {"said": 2.5, "thought": 0.75, "query": "semantics OR enclos*"},
    ),
    Question(
        "SELECT rowid, rank FROM turns WHERE turns MATCH :query"
        " AND rank MATCH 'reasoning_bm25(''0'')' ORDER BY rank, rowid LIMIT 25",
        {"query": "content : (python AND object)"},
    ),
    Question(
        "SELECT rowid, reasoning_bm25_rows(turns, '-0', :rows) FROM turns(:query) ORDER BY rowid",
        {"rows": 5000, "query": "thought : embedded"},
    ),
    Question(
        "SELECT rowid, reasoning_origin(turns, :columns) FROM turns(:query) ORDER BY rowid",
        {"columns": 1, "query": "embedded OR garbage"},
    ),
    Question(
        "SELECT rowid, hex(reasoning_counts(turns, '1')), reasoning_tokens(turns, '1')"
        " FROM turns(:query) ORDER BY rowid",
        {"query": "garbage OR database"},
    ),
    Question(
        "SELECT rowid, reasoning_bm25(messages_fts_trigram, '0')"
        " FROM messages_fts_trigram(:query) ORDER BY rowid LIMIT 25",
        {"query": "garbage"},
    ),
    Question("SELECT reasoning_version()"),
    Question("SELECT json_extract(reasoning_debug(), '$.sqlite_version') = sqlite_version()"),
)

WRONG = (
    Question("SELECT reasoning_match(:query, 'text')", {"query": "lock AND"}),
    Question("SELECT reasoning_match(NULL, 'text')"),
    Question("SELECT reasoning_match_columns('content', 'thought : a', 'text')"),
    Question("SELECT reasoning_match_columns('a, tokenize=nothing', 'a', 'text')"),
    Question("SELECT reasoning_parse('content', '\"open')"),
    Question("SELECT rowid FROM reasoning_scan('a', 'no such table', 'content', '0')"),
    Question("SELECT rowid FROM reasoning_scan('a')"),
    Question("SELECT reasoning_bm25(turns, :columns) FROM turns('file')", {"columns": "0 9"}),
    Question("SELECT reasoning_bm25(turns, 0.5) FROM turns('file')"),
    Question("SELECT reasoning_bm25_rows(turns, '0', 3) FROM turns('file')"),
    Question("SELECT reasoning_origin(turns) FROM turns('file')"),
)

# Each wrong question is followed by one that is right: the connection has to go on.
ABOUT_ARCHIVE = (
    *RIGHT,
    *(question for wrong in WRONG for question in (wrong, RIGHT[len(wrong.sql) % len(RIGHT)])),
)
ABOUT_EXAMPLES = tuple(Question(example.sql) for example in documented.EXAMPLES)


def write_sheets(folder: Path, archive: Path) -> tuple[Sheet, ...]:
    """Makes the two databases in `folder`, one of them from a demonstration archive."""
    copied, shared = folder / "archive.db", folder / "examples.db"
    source = apsw.Connection(str(archive), flags=apsw.SQLITE_OPEN_READONLY)
    target = apsw.Connection(str(copied))
    with target.backup("main", source, "main") as backup:
        backup.step(-1)
    source.close()
    target.execute(INDEX)
    target.execute("PRAGMA journal_mode = delete").fetchall()
    target.close()
    example = apsw.Connection(str(shared))
    example.execute(documented.SETUP)
    example.close()
    return Sheet(copied, ABOUT_ARCHIVE), Sheet(shared, ABOUT_EXAMPLES)


def ask_apsw(sheet: Sheet) -> list[Answer]:
    """The answers that all others are compared with."""
    connection = apsw.Connection(str(sheet.path), flags=apsw.SQLITE_OPEN_READONLY)
    rf.load(connection)
    answers = []
    for question in sheet.questions:
        try:
            rows = connection.execute(question.sql, dict(question.parameters)).fetchall()
            answers.append(Answer(rows=tuple(rows)))
        except apsw.Error as error:
            answers.append(Answer(error=str(error)))
    connection.close()
    return answers


def is_same_value(one: Value, other: Value) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=0)
    return type(one) is type(other) and one == other


def is_same(answer: Answer, expected: Answer) -> bool:
    """Whether all rows are the same; of an error, whether the host passes the text on."""
    if expected.error is not None:
        return answer.error is not None and expected.error in answer.error
    return (
        answer.error is None
        and len(answer.rows) == len(expected.rows)
        and all(
            len(row) == len(wanted) and all(map(is_same_value, row, wanted))
            for row, wanted in zip(answer.rows, expected.rows, strict=True)
        )
    )


def differences(
    sheet: Sheet, answers: Sequence[Answer], expected: Sequence[Answer]
) -> list[tuple[Question, Answer, Answer]]:
    assert len(answers) == len(expected) == len(sheet.questions)
    return [
        (question, answer, wanted)
        for question, answer, wanted in zip(sheet.questions, answers, expected, strict=True)
        if not is_same(answer, wanted)
    ]
