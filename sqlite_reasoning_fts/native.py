"""The library's own C functions, called without SQLite.

cffi opens the file that SQLite loads, in ABI mode, at the first call; nothing is
compiled against Python.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
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
"""


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
