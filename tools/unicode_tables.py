"""Writes csrc/pure/unicode_tables.h: what FTS5's ``unicode61`` knows of each character.

FTS5 has tables of Unicode 6.1, slightly its own, and a tokenizer that is to be equal to it has to
have the same. They are read off a real FTS5, the one inside apsw: its tokenizer is asked, for every
character and every general category, whether the character is part of a token, and what it becomes
for each value of ``remove_diacritics``.

    python tools/unicode_tables.py > csrc/pure/unicode_tables.h
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

import apsw

CATEGORIES = (
    "Cc Cf Cn Cs Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs"
).split()
EVERYTHING = "C* L* M* N* P* S* Z*"
PAGE = 128
LIMIT = 0x20000  # above it only the characters of SPARSE have a category


class Kind(NamedTuple):
    """What the tokenizer knows of a character."""

    category: int  # 0: a character that FTS5 has no category for; else 1 + index in CATEGORIES
    diacritic: int  # continues a token even where its category does not
    fold: tuple[int, int, int]  # what is added to it, for remove_diacritics 0, 1 and 2
    dropped: int  # bit r: it leaves nothing in the token with remove_diacritics r


def characters() -> list[int]:
    """All but NUL, surrogates and those that FTS5 reads as U+FFFD."""
    return [
        code
        for code in range(1, 0x110000)
        if not 0xD800 <= code < 0xE000 and code & 0xFFFE != 0xFFFE
    ]


class Probe:
    """FTS5's tokenizer over a text that holds each character once, between NUL bytes."""

    def __init__(self, codes: Iterable[int], around: tuple[str, str] = ("", "")) -> None:
        self.connection = apsw.Connection(":memory:")
        self.before = len(around[0])
        self.start: dict[int, int] = {}
        pieces = []
        at = 0
        for code in codes:
            piece = f"{around[0]}{chr(code)}{around[1]}\0".encode()
            self.start[at] = code
            pieces.append(piece)
            at += len(piece)
        self.text = b"".join(pieces)

    def tokens(self, *arguments: str) -> dict[int, str]:
        """For each character at which a token begins, the token."""
        tokenizer = self.connection.fts5_tokenizer("unicode61", list(arguments))
        found = tokenizer(self.text, apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return {self.start[at]: token for at, _, token in found if at in self.start}


def kinds() -> dict[int, Kind]:
    """What is known of every character from U+0080 on; those without anything are left out."""
    codes = characters()
    probe = Probe(codes)
    member = {name: probe.tokens("categories", name).keys() for name in CATEGORIES}
    category = {}
    for number, name in enumerate(CATEGORIES, start=1):
        others = member["Zs" if name != "Zs" else "Cc"]
        category.update(dict.fromkeys(member[name] - others, number))
    folded = [
        probe.tokens("categories", EVERYTHING, "remove_diacritics", str(level))
        for level in range(3)
    ]
    inside = Probe(codes, ("a", "b")).tokens("remove_diacritics", "0")
    letters = "L* N* Co".split()
    made = {}
    for code in codes:
        if code < 0x80:
            continue
        name = CATEGORIES[category[code] - 1] if code in category else None
        counts = name is None or name[0] + "*" in letters or name in letters
        results = [folded[level][code] for level in range(3)]
        kind = Kind(
            category.get(code, 0),
            int(not counts and inside[code].endswith("b")),
            tuple(ord(text) - code if text else 0 for text in results),  # type: ignore[arg-type]
            sum(1 << level for level, text in enumerate(results) if not text),
        )
        if kind != Kind(0, 0, (0, 0, 0), 0):
            made[code] = kind
    return made


def ascii_categories() -> list[int]:
    """The categories of the ASCII characters, as FTS5 fills its table of token characters."""
    probe = Probe(range(1, 0x80))
    category = [0] * 0x80
    for number, name in enumerate(CATEGORIES, start=1):
        for code in probe.tokens("categories", name):
            category[code] = number
    return category


def rows(values: Iterable[object], width: int = 100) -> str:
    """Values as the lines of a C initializer."""
    lines = [" "]
    for value in values:
        text = f" {value},"
        if len(lines[-1]) + len(text) > width:
            lines.append(" ")
        lines[-1] += text
    return "\n".join(lines)


def ranges(known: dict[int, Kind]) -> list[tuple[int, int, int]]:
    """Characters that have a category and nothing else, as (first, last, category)."""
    found: list[tuple[int, int, int]] = []
    for code, kind in sorted(known.items()):
        assert kind == Kind(kind.category, 0, (0, 0, 0), 0)
        if found and found[-1][1:] == (code - 1, kind.category):
            found[-1] = (found[-1][0], code, kind.category)
        else:
            found.append((code, code, kind.category))
    return found


def header() -> str:
    """The text of the header."""
    known = kinds()
    nothing = Kind(0, 0, (0, 0, 0), 0)
    number: dict[Kind, int] = {nothing: 0}
    pages: dict[tuple[int, ...], int] = {}
    first = []
    for begin in range(0, LIMIT, PAGE):
        page = tuple(
            number.setdefault(known.get(code, nothing), len(number))
            for code in range(begin, begin + PAGE)
        )
        first.append(pages.setdefault(page, len(pages)))
    sparse = ranges({code: kind for code, kind in known.items() if code >= LIMIT})
    assert len(pages) <= 256
    assert len(number) <= 65536
    kind_rows = (
        f"{{{k.category}, {k.diacritic}, {k.dropped}, {{{', '.join(map(str, k.fold))}}}}}"
        for k in number
    )
    return f"""\
/*
** What FTS5's `unicode61` knows of each character. Generated by
** tools/unicode_tables.py from a real FTS5; not to be edited.
*/
#ifndef RF_UNICODE_TABLES_H
#define RF_UNICODE_TABLES_H

#define RF_CATEGORY_COUNT {len(CATEGORIES) + 1}
#define RF_CHARACTER_PAGE {PAGE}
#define RF_CHARACTER_LIMIT 0x{LIMIT:X}

typedef struct rf_character {{
  unsigned char category;
  unsigned char diacritic; /* continues a token, whatever its category */
  unsigned char dropped;   /* bit r: leaves nothing in a token with remove_diacritics r */
  int fold[3];             /* added to the character, for remove_diacritics 0, 1 and 2 */
}} rf_character;

/* Two letters a category; the first has number 1, and 0 stands for no category. */
static const char category_names[] =
  "{"".join(CATEGORIES)}";

/* Categories of the ASCII characters. */
static const unsigned char ascii_category[128] = {{
{rows(ascii_categories())}
}};

/* The page of each {PAGE} characters below the limit. */
static const unsigned char character_page[{len(first)}] = {{
{rows(first)}
}};

/* The pages one after the other: for each character its index in `character`. */
static const unsigned short page_kind[{len(pages) * PAGE}] = {{
{rows(kind for page in pages for kind in page)}
}};

static const rf_character character[{len(number)}] = {{
{rows(kind_rows)}
}};

/* The characters from the limit on that have a category, as ascending ranges. */
static const struct {{
  unsigned first;
  unsigned last;
  unsigned char category;
}} category_range[{len(sparse)}] = {{
{rows(f"{{0x{first:X}, 0x{last:X}, {category}}}" for first, last, category in sparse)}
}};

#endif
"""


if __name__ == "__main__":
    sys.stdout.write(header())
