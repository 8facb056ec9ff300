"""The library's own unicode61 and ascii: token by token those of FTS5."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlite_reasoning_fts import native

ARGUMENTS = (
    (),
    ("remove_diacritics", "0"),
    ("remove_diacritics", "2"),
    ("tokenchars", "_-.é"),
    ("separators", "xé漢1"),
    ("separators", "é", "tokenchars", "é"),
    ("categories", "L* N* Co Mn"),
    ("categories", "Lu"),
    ("categories", "LC Zs"),
    ("categories", "P* S*", "tokenchars", "a", "separators", "."),
    ("TokenChars", "\u0301x"),
)
REFUSED = (
    ("remove_diacritics", "3"),
    ("remove_diacritics", "11"),
    ("categories", "Lx"),
    ("nothing", "1"),
    ("tokenchars",),
)
PIECES = (
    "a", "Hello", "WORLD", "x1", "_", "-", " ", ".", "\n", "\0", "\x01", "é", "É", "ſ",
    "\u212a", "ệ", "\u0301", "\u0345", "a\u0300b", "漢字", "ไทย", "😀", "हिन्दी", "İ", "ß",
    "\u200b", "\ue000", "\U00010400", "\U0010fffd", "Ǆ", "C++", "word " * 30, "w" * 70, "“",
    "é" * 40,
)  # fmt: skip


def of_fts5(tokenizer: str, arguments: tuple[str, ...], text: bytes) -> list[native.Token]:
    """FTS5's tokens: start, end, token."""
    connection = apsw.Connection(":memory:")
    tokens = connection.fts5_tokenizer(tokenizer, list(arguments))(
        text, apsw.FTS5_TOKENIZE_DOCUMENT, None
    )
    return [native.Token(token.encode(), start, end) for start, end, token in tokens]


def ours(tokenizer: str, arguments: tuple[str, ...], text: bytes) -> list[native.Token]:
    quoted = " ".join("'" + argument.replace("'", "''") + "'" for argument in arguments)
    return list(native.tokenize(text, f"{tokenizer} {quoted}"))


@settings(max_examples=500, deadline=None)
@given(
    arguments=st.sampled_from(ARGUMENTS),
    pieces=st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8")), max_size=40),
)
def test_tokens_are_those_of_fts5(arguments: tuple[str, ...], pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    assert ours("unicode61", arguments, text) == of_fts5("unicode61", arguments, text)


@settings(max_examples=200, deadline=None)
@given(
    arguments=st.sampled_from([(), ("tokenchars", "-_é"), ("separators", "ax")]),
    pieces=st.lists(st.sampled_from(PIECES), max_size=40),
)
def test_ascii_tokens_are_those_of_fts5(arguments: tuple[str, ...], pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    assert ours("ascii", arguments, text) == of_fts5("ascii", arguments, text)


@pytest.mark.parametrize("start", range(1, 70))
def test_a_token_may_lie_anywhere_in_the_windows_that_are_read(start: int) -> None:
    for length in (1, 2, 63, 64, 65, 130):
        for token in ("x" * length, "x" * (length - 1) + "é"):
            text = ("." * start + token + " Y").encode()
            assert ours("unicode61", (), text) == of_fts5("unicode61", (), text)


def characters() -> Iterator[str]:
    """Every character that FTS5 has something to say of, and some beyond."""
    for code in (*range(1, 0x30000), *range(0xE0000, 0xE0200), 0xF0000, 0xFFFFD, 0x10FFFD):
        if not 0xD800 <= code < 0xE000:
            yield chr(code)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("remove_diacritics", "0"),
        ("remove_diacritics", "2", "categories", "L* M* N* P* S* Z* C*"),
        ("categories", "Lu Mn Sm"),
    ],
)
def test_each_character_is_known(arguments: tuple[str, ...]) -> None:
    text = "\0".join(f"{character} a{character}b" for character in characters()).encode()
    assert ours("unicode61", arguments, text) == of_fts5("unicode61", arguments, text)


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_fts5_refuses_is_refused(arguments: tuple[str, ...]) -> None:
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError):
        connection.fts5_tokenizer("unicode61", list(arguments))
    with pytest.raises(ValueError, match="cannot open the tokenizer"):
        ours("unicode61", arguments, b"text")
