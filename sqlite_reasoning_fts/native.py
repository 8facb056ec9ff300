"""The library's own C functions, called without SQLite.

cffi opens the file that SQLite loads, in ABI mode, at the first call; nothing is
compiled against Python.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .loading import extension_path

# The declarations of csrc/native.h.
_DECLARATIONS = """
const char *reasoning_fts_version(void);
void reasoning_fts_bm25(
  int64_t rows, double average_tokens, int32_t phrases,
  const int64_t *document_frequencies, double *idf,
  int64_t count, const double *frequencies, const double *tokens, double *ranks
);
typedef struct reasoning_fts_query reasoning_fts_query;
int32_t reasoning_fts_query_open(
  const char *spec, int32_t spec_bytes, const char *text, int32_t bytes,
  reasoning_fts_query **query, char *message
);
void reasoning_fts_query_close(reasoning_fts_query *query);
int32_t reasoning_fts_query_match(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  int32_t *matches
);
int32_t reasoning_fts_query_parse(
  const reasoning_fts_query *query, char **json, int64_t *bytes
);
int32_t reasoning_fts_query_tokenize(
  const reasoning_fts_query *query, const char *text, int32_t bytes, char **tokens,
  int64_t *size
);
int32_t reasoning_fts_query_snippet(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  const char *const *marks, int32_t tokens, char **snippet, int64_t *size
);
void reasoning_fts_free(void *memory);
"""

WRONG_COUNT = "{} texts are given; pass one for each column"
MESSAGE_BYTES = 320
NO_MEMORY = 7
MAX_BYTES = 0x7FFFFFFF
"""Lengths are 32-bit, as in SQLite."""

Text = str | bytes
"""UTF-8; bytes may hold anything, and are read as FTS5 reads them."""


@cache
def _library() -> tuple[Any, Any]:
    """cffi and the opened library; made once, never changed."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, ffi.dlopen(extension_path())


def version() -> str:
    """The version of the library."""
    ffi, library = _library()
    text: bytes = ffi.string(library.reasoning_fts_version())
    return text.decode()


def bm25(
    rows: int,
    average_tokens: float,
    document_frequencies: Sequence[int],
    frequencies: Sequence[float],
    lengths: Sequence[float],
) -> list[float]:
    """Ranks of many rows by ``bm25()``, as FTS5 computes it: negative, smaller is better.

    ``rows`` is the number of all rows and ``average_tokens`` their mean length.
    ``document_frequencies`` has for each phrase the number of rows that hold it,
    ``lengths`` for each row to rank its length in tokens, and ``frequencies`` row by row
    the hits of each phrase, ``len(lengths) * len(document_frequencies)`` in all.
    """
    phrases = len(document_frequencies)
    count = len(lengths)
    if len(frequencies) != phrases * count:
        raise ValueError(
            f"bm25: {len(frequencies)} frequencies for {count} rows and {phrases} phrases;"
            f" give {phrases * count}"
        )
    ffi, library = _library()
    ranks = ffi.new("double[]", count)
    library.reasoning_fts_bm25(
        rows,
        average_tokens,
        phrases,
        ffi.from_buffer("int64_t[]", _array("q", document_frequencies)),
        ffi.new("double[]", phrases),
        count,
        ffi.from_buffer("double[]", _array("d", frequencies)),
        ffi.from_buffer("double[]", _array("d", lengths)),
        ranks,
    )
    result: list[float] = ffi.unpack(ranks, count)
    return result


def _array(code: str, values: Sequence[Any]) -> Any:
    """The values in C's layout; an array of the right type is passed on as it is."""
    if isinstance(values, array) and values.typecode == code:
        return values
    return array(code, values)


@dataclass(frozen=True)
class Token:
    """A token, folded, and the bytes ``start`` to ``end`` of the text that it stands for."""

    text: bytes
    start: int
    end: int


@dataclass(frozen=True)
class _Row:
    """A row as C takes it; ``kept`` is what ``texts`` points to."""

    count: int
    texts: Any
    lengths: Any
    kept: tuple[Any, ...]


class Query:
    """An FTS5 query for rows of one or more columns, asked without SQLite.

    ``spec`` is the argument list of an FTS5 table, such as ``"content, thought"`` or
    ``"text, tokenize=ascii"``. Tokenizers are ``unicode61`` and ``ascii``; any other one, and a
    query that FTS5 would refuse, raises ValueError. To be used by one thread at a time, and closed
    or used as a context manager.
    """

    def __init__(self, text: Text, spec: Text = "text") -> None:
        self._ffi, self._library = _library()
        handle = self._ffi.new("reasoning_fts_query **")
        message = self._ffi.new("char[]", MESSAGE_BYTES)
        named, query = _bytes(spec), _bytes(text)
        status = self._library.reasoning_fts_query_open(
            named, len(named), query, len(query), handle, message
        )
        self._handle = handle[0]
        if status:
            raise _error(status, self._ffi.string(message).decode("utf-8", "replace"))

    def __enter__(self) -> Query:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the query; it cannot be asked any more."""
        handle, self._handle = self._handle, self._ffi.NULL
        self._library.reasoning_fts_query_close(handle)

    def match(self, *columns: Text | None) -> bool:
        """Whether a row matches; ``columns`` has a text for each column, ``None`` for none."""
        found = self._ffi.new("int32_t *")
        row = self._row(columns)
        status = self._library.reasoning_fts_query_match(
            self._open(), row.count, row.texts, row.lengths, found
        )
        if status:
            raise _error(status, WRONG_COUNT.format(row.count))
        return bool(found[0])

    def snippet(
        self,
        *columns: Text | None,
        open: str = "[",
        close: str = "]",
        ellipsis: str = "…",
        tokens: int = 24,
    ) -> bytes:
        """The window of a row that shows its hits best, at most 64 ``tokens`` long, with marks.

        As the SQL function ``reasoning_snippet_columns``: where nothing matches, the head of the
        first indexed column that is not empty.
        """
        row = self._row(columns)
        marks = [self._ffi.new("char[]", _bytes(mark)) for mark in (open, close, ellipsis)]
        return self._given(
            self._library.reasoning_fts_query_snippet,
            row.count,
            row.texts,
            row.lengths,
            self._ffi.new("char *[]", marks),
            min(max(tokens, 0), 64),
            error=WRONG_COUNT.format(row.count),
        )

    def _row(self, columns: Sequence[Text | None]) -> _Row:
        rows = [None if column is None else _bytes(column) for column in columns]
        buffers = [
            self._ffi.NULL if row is None else self._ffi.from_buffer("char[]", row) for row in rows
        ]
        lengths = self._ffi.new("int32_t[]", [len(row or b"") for row in rows])
        return _Row(len(rows), self._ffi.new("char *[]", buffers), lengths, tuple(buffers))

    def tree(self) -> Any:
        """The query as a tree, in the form of the SQL function ``reasoning_parse``."""
        return json.loads(self._given(self._library.reasoning_fts_query_parse))

    def tokenize(self, text: Text) -> tuple[Token, ...]:
        """The tokens of a text, by the spec's tokenizer."""
        raw = _bytes(text)
        tokenize = self._library.reasoning_fts_query_tokenize
        return tuple(_unpacked(self._given(tokenize, raw, len(raw))))

    def _open(self) -> Any:
        if self._handle == self._ffi.NULL:
            raise ValueError("the query is closed; make another one")
        return self._handle

    def _given(self, function: Callable[..., int], *arguments: Any, error: str = "") -> bytes:
        """What a function hands over."""
        given = self._ffi.new("char **")
        size = self._ffi.new("int64_t *")
        status = function(self._open(), *arguments, given, size)
        if status:
            raise _error(status, error)
        try:
            return bytes(self._ffi.buffer(given[0], size[0])) if size[0] else b""
        finally:
            self._library.reasoning_fts_free(given[0])


def parse(query: Text, spec: Text = "text") -> Any:
    """The tree of a query; see :class:`Query` for the arguments and errors."""
    with Query(query, spec) as opened:
        return opened.tree()


def match(query: Text, *columns: Text | None, spec: Text = "text") -> bool:
    """Whether one row matches; for many rows make a :class:`Query`."""
    with Query(query, spec) as opened:
        return opened.match(*columns)


def tokenize(text: Text, tokenizer: str = "unicode61") -> tuple[Token, ...]:
    """The tokens of a text. ``tokenizer`` has its arguments behind it, as in FTS5's option."""
    quoted = tokenizer.replace('"', '""')
    with Query('""', f'text, tokenize="{quoted}"') as opened:
        return opened.tokenize(text)


def snippet(
    query: Text,
    *columns: Text | None,
    open: str = "[",
    close: str = "]",
    ellipsis: str = "…",
    tokens: int = 24,
    spec: Text = "text",
) -> bytes:
    """The snippet of one row; see :meth:`Query.snippet`."""
    with Query(query, spec) as opened:
        return opened.snippet(*columns, open=open, close=close, ellipsis=ellipsis, tokens=tokens)


def _bytes(text: Text) -> bytes:
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"a text of {len(raw):,} bytes; the longest has {MAX_BYTES:,}")
    return raw


def _error(status: int, message: str) -> Exception:
    return MemoryError() if status == NO_MEMORY else ValueError(message)


def _unpacked(packed: bytes) -> Iterator[Token]:
    at = 0
    while at < len(packed):
        start, end, length = struct.unpack_from("=3i", packed, at)
        at += 12
        yield Token(packed[at : at + length], start, end)
        at += length
