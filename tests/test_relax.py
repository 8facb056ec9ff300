"""The relaxed query finds whatever the query finds, in an index that has no positions."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import apsw.fts5
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_designs import query_texts

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.designs.relax import Relaxed, relax
from sqlite_reasoning_fts.query import parse

COLUMNS = ("one", "two", "thought")
PIECES = ("ab", "cd", "Ef", "gh", "ij", "äb", "c-d", "running", "runs", "abcd", "漢字", "cd", "-")
TOKENIZERS = (
    "unicode61",
    "unicode61 remove_diacritics 0",
    "unicode61 tokenchars '-'",
    "ascii",
    "porter unicode61",
    "trigram",
    "synonyms reasons QUERY unicode61",
    "synonyms reasons DOCUMENT unicode61",
)
SYNONYMS = {"ab": "gh", "cd": ("ij", "ef")}

words = st.sampled_from(PIECES)
phrases = st.lists(words, min_size=1, max_size=3).map(lambda some: f'"{" ".join(some)}"')
queries = st.one_of(
    query_texts(),
    st.recursive(
        st.one_of(phrases, phrases.map(lambda one: f"{one} *"), phrases.map(lambda one: f"^{one}")),
        lambda inner: st.tuples(inner, st.sampled_from(("AND", "OR", "NOT")), inner).map(
            lambda three: f"({' '.join(three)})"
        ),
        max_leaves=4,
    ),
)
cells = st.lists(words, max_size=6).map(" ".join)


class Tables:
    """One table with positions over three columns, and an index without over the last of them."""

    def __init__(self, tokenizer: str, rows: list[tuple[str, str, str]]) -> None:
        connection = apsw.Connection(":memory:")
        rf.load(connection)
        connection.register_fts5_tokenizer(
            "synonyms", apsw.fts5.SynonymTokenizer(lambda word: SYNONYMS.get(word))
        )
        self.database = Database(connection)
        tokenize = f'tokenize="{tokenizer}"'
        self.spec, self.own = f"one, two, thought, {tokenize}", f"thought, {tokenize}"
        self.database.run(f"CREATE VIRTUAL TABLE f USING fts5({self.spec})")
        self.database.run(
            f"CREATE VIRTUAL TABLE i USING fts5({self.own}, content='', detail=none, columnsize=0)"
        )
        for number, row in enumerate(rows, 1):
            self.database.run("INSERT INTO f(rowid, one, two, thought) VALUES (?, ?, ?, ?)",
                              (number, *row))  # fmt: skip
            self.database.run("INSERT INTO i(rowid, thought) VALUES (?, ?)", (number, row[2]))

    def found(self, table: str, text: str | None) -> set[int]:
        if text is None:
            return set()
        sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
        return {row[0] for row in self.database.all(sql, (text,))}

    def relaxed(self, text: str, *, rows_are_documents: bool = True) -> Relaxed | None:
        return relax(
            self.database, self.own, parse(self.database, text, "fts5", self.spec, COLUMNS),
            ("thought",), rows_are_documents=rows_are_documents,
        )  # fmt: skip

    def expected(self, text: str) -> set[int]:
        query = parse(self.database, text, "fts5", self.spec, COLUMNS)
        return self.found("f", query.restricted(("thought",)))


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=queries,
    rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6),
    tokenizer=st.sampled_from(TOKENIZERS),
    documents=st.booleans(),
)
def test_no_row_is_lost_and_an_exact_one_finds_no_other(
    text: str, rows: list[tuple[str, str, str]], tokenizer: str, documents: bool
) -> None:
    tables = Tables(tokenizer, rows)
    expected = tables.expected(text)
    relaxed = tables.relaxed(text, rows_are_documents=documents)
    if relaxed is None:
        assert expected == set()
    elif relaxed.text is not None:
        found = tables.found("i", relaxed.text)
        assert expected <= found
        if relaxed.exact:
            assert documents
            assert expected == found


@pytest.fixture
def plain() -> Tables:
    return Tables("unicode61", [("", "", "ab cd"), ("ab", "cd", "ef")])


@pytest.mark.parametrize(
    ("query", "documents", "text", "exact"),
    [
        ("ab", True, '"ab"', True),
        ("ab*", True, '"ab" *', True),
        ("^ab", True, '"ab"', False),
        ('"ab cd"', True, '("ab" AND "cd")', False),
        ("NEAR(ab cd, 2)", True, '("ab" AND "cd")', False),
        ("ab OR cd", True, '("ab" OR "cd")', True),
        ("ab NOT cd", True, '("ab" NOT "cd")', True),
        ("ab NOT cd*", True, '"ab"', False),
        ('ab NOT "cd ef"', True, '"ab"', False),
        ("ab NOT thought : cd", True, '"ab"', False),
        ("ab NOT cd", False, '"ab"', False),
        ("ab", False, '"ab"', False),
        ("{one thought} : ab", True, '"ab"', True),
    ],
)
def test_what_the_index_is_asked_for(
    plain: Tables, query: str, documents: bool, text: str, exact: bool
) -> None:
    assert plain.relaxed(query, rows_are_documents=documents) == Relaxed(text, exact)


@pytest.mark.parametrize("query", ["one : ab", "ab AND two : cd", "(one : ab) NOT cd", '""'])
def test_what_no_thought_can_match_is_not_asked_for(plain: Tables, query: str) -> None:
    assert plain.relaxed(query) is None


def test_what_nests_too_deep_for_fts5_is_left_to_the_rows(plain: Tables) -> None:
    deep = " AND ".join(f'"{number} x"' for number in range(200))
    relaxed = plain.relaxed(deep)
    assert relaxed is not None
    assert relaxed.text is None or plain.found("i", relaxed.text) == set()


def test_a_word_that_is_read_otherwise_by_itself_is_left_to_the_rows() -> None:
    """A tokenizer for which a word is another token at each place."""

    def places(connection: apsw.Connection, arguments: list[str]) -> apsw.Tokenizer:
        def tokenize(utf8: bytes, flags: int, locale: str | None) -> Iterator[tuple[int, int, str]]:
            at = 0
            for place, word in enumerate(utf8.split(b" ")):
                yield at, at + len(word), f"{word.decode()}{place}"
                at += len(word) + 1

        return tokenize

    connection = apsw.Connection(":memory:")
    rf.load(connection)
    connection.register_fts5_tokenizer("places", places)
    database = Database(connection)
    spec = "thought, tokenize=places"
    query = parse(database, '"x y"', "fts5", spec, ("thought",))
    relaxed = relax(database, spec, query, ("thought",), rows_are_documents=True)
    assert relaxed == Relaxed(None, exact=False)
