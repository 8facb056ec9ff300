"""No row that matches is passed over: the characters that the prefilter knows are all there are."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

import apsw
import pytest

TOKENIZERS = (
    "unicode61",
    "unicode61 remove_diacritics 0",
    "unicode61 remove_diacritics 2",
    "unicode61 categories 'L* N* M* S* P* Z* C*'",
    "unicode61 remove_diacritics 2 categories 'L* N* M* S* P* Z* C*'",
    "ascii",
)


def characters() -> Iterator[str]:
    """Every character outside ASCII, but for the upper private planes."""
    for code in range(0x80, 0x30000):
        if not 0xD800 <= code < 0xE000:
            yield chr(code)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_every_character_that_folds_into_ascii_is_known(
    connection: apsw.Connection, tokenizer: str
) -> None:
    """Between two letters each character may give, or hide, a letter; FTS5 says what it does."""
    spec = f'text, tokenize="{tokenizer}"'
    connection.execute(f"CREATE VIRTUAL TABLE real USING fts5({spec})")
    connection.execute("CREATE TABLE texts(id INTEGER PRIMARY KEY, text)")
    connection.executemany(
        "INSERT INTO texts VALUES (?, ?)",
        ((ord(character), f"q{character}z") for character in characters()),
    )
    connection.execute("INSERT INTO real(rowid, text) SELECT id, text FROM texts")
    for letters in ("qz", *(f"q{letter}z" for letter in string.ascii_lowercase + string.digits)):
        expected = connection.execute(
            "SELECT rowid FROM real WHERE real MATCH ?", (letters,)
        ).fetchall()
        got = connection.execute(
            "SELECT rowid FROM reasoning_scan(?, 'texts', ?)", (letters, spec)
        ).fetchall()
        assert got == expected


def test_invalid_utf_8_is_read_as_the_tokenizer_reads_it(connection: apsw.Connection) -> None:
    """A byte too few or too many makes another character, an ASCII letter among them."""
    chosen = random.Random(7)
    folds = [b"\xc5\xbf", b"\xe0\x85\xbf", b"\xf0\x80\x85\xbf", b"\xf8\x85\xbf", b"\xe5\xbf",
             b"\xff\xbf\x85\xbf", b"\xd5\x80\x80\x80\x80\x85\xbf", b"\xe2\x84\xaa", b"\xf5\xbf",
             b"\xcc\x81", b"\xc2\xaa", b"\xc3", b"\xe2\x84"]  # fmt: skip
    connection.execute("CREATE VIRTUAL TABLE real USING fts5(text)")
    connection.execute("CREATE TABLE texts(id INTEGER PRIMARY KEY, text)")
    for _ in range(6000):
        piece = chosen.choice(folds) if chosen.random() < 0.4 else bytes(
            chosen.choice(b"\x80\x85\xa0\xbf\xc0\xc1\xc3\xe0\xe1\xef\xf0\xf4\xf5\xfeks ")
            for _ in range(chosen.randint(1, 6))
        )  # fmt: skip
        padding = b"-" * chosen.choice([0, 0, 13, 31])
        connection.execute("INSERT INTO texts(text) VALUES (?)", (padding + b"q" + piece + b"z",))
    connection.execute("INSERT INTO real(rowid, text) SELECT id, text FROM texts")
    for query in ("qsz", "qkz", "qz", "s", "k", "q*", "qs*", "z"):
        expected = connection.execute(
            "SELECT rowid FROM real WHERE real MATCH ?", (query,)
        ).fetchall()
        got = connection.execute(
            "SELECT rowid FROM reasoning_scan(?, 'texts', 'text')", (query,)
        ).fetchall()
        assert got == expected


def test_porter_changes_at_most_the_last_byte_of_a_words_beginning(
    connection: apsw.Connection,
) -> None:
    """Words made of every ending that the stemmer knows, alone and stacked, after many stems."""
    endings = ("", "s", "es", "sses", "ies", "ss", "eed", "ed", "ing", "at", "bl", "iz", "y",
               "ational", "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli",
               "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness",
               "aliti", "iviti", "biliti", "ility", "icate", "ative", "alize", "iciti", "ical",
               "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement",
               "ment", "ent", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e",
               "ll", "ably", "ively", "alled", "zing", "tting", "ying", "ied")  # fmt: skip
    roots = ("", "a", "be", "tr", "ab", "sens", "mob", "dur", "hop", "hopp", "fall", "tann",
             "fizz", "cre", "oper", "vie", "dig", "general", "abcd", "yy", "sky", "ox", "wh",
             "aab")  # fmt: skip
    words = {root + first + second for root in roots for first in endings for second in endings}
    words = {word for word in words if word}
    connection.execute("CREATE VIRTUAL TABLE real USING fts5(text, tokenize=porter)")
    connection.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(real, 'instance')")
    listed = sorted(words)
    connection.executemany("INSERT INTO real(rowid, text) VALUES (?, ?)", list(enumerate(listed)))
    wrong = [
        (listed[row], stem)
        for stem, row in connection.execute("SELECT term, doc FROM stems")
        if not listed[row].startswith(stem[:-1])
    ]
    assert wrong == []


def test_a_needle_is_found_wherever_it_stands(connection: apsw.Connection) -> None:
    """At every offset and end of a text, in either case, among near misses."""
    connection.execute("CREATE TABLE texts(id INTEGER PRIMARY KEY, text)")
    needles = ("q", "zq", "needle", "a1b2", "xxxxxxxxxxxxxxxxxxxxy", "0", "e")
    for needle in needles:
        rows = []
        for before in range(40):
            for after in (0, 1, 7, 16, 33):
                text = " " * before + needle.upper() + " " * after
                miss = " " * before + needle[:-1] + "\x10@" + " " * after
                rows += [(text,), (miss,), (f"é{text}",), (f"{text}日",)]
        connection.execute("DELETE FROM texts")
        connection.executemany("INSERT INTO texts(text) VALUES (?)", rows)
        found = connection.execute(
            "SELECT count(*) FROM reasoning_scan(?, 'texts', 'text')", (needle,)
        ).get
        connection.execute("CREATE VIRTUAL TABLE temp.real USING fts5(text)")
        connection.execute("INSERT INTO real SELECT text FROM texts")
        assert (
            found
            == connection.execute("SELECT count(*) FROM real WHERE real MATCH ?", (needle,)).get
        )
        connection.execute("DROP TABLE temp.real")


def test_a_stem_is_found_in_words_that_end_otherwise(connection: apsw.Connection) -> None:
    spec = "text, tokenize=porter"
    connection.execute(f"CREATE VIRTUAL TABLE real USING fts5({spec})")
    for text, query in (("a pony", "ponies"), ("ponies", "pony"), ("happy", "happily*")):
        connection.execute("DELETE FROM real")
        connection.execute("INSERT INTO real VALUES (?)", (text,))
        expected = connection.execute("SELECT count(*) FROM real(?)", (query,)).get
        sql = "SELECT reasoning_match_columns(?, ?, ?)"
        assert connection.execute(sql, (spec, query, text)).get == expected
