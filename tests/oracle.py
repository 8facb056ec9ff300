"""FTS5 itself as the oracle: what a real table says, and queries and rows to ask it about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw
from hypothesis import strategies as st

Value = str | bytes | int | float | None

KINDS = (
    "unterminated string",
    "no such column",
    "expected integer",
    "parser stack overflow",
    "tree is too large",
    "unknown special query",
    "syntax error",
)


@dataclass(frozen=True)
class Spec:
    """A table: the arguments of FTS5, and the names of its columns."""

    text: str
    columns: tuple[str, ...]


SPECS = (
    Spec("text", ("text",)),
    Spec("a, b, c", ("a", "b", "c")),
    Spec("a, b UNINDEXED, c, tokenize='porter'", ("a", "b", "c")),
    Spec("a, b, tokenize=ascii", ("a", "b")),
    Spec("a, b, c, tokenize=trigram", ("a", "b", "c")),
    Spec("""a, b, tokenize="unicode61 remove_diacritics 2 tokenchars '-_'" """, ("a", "b")),
    Spec("a, b, tokenize='porter unicode61 remove_diacritics 0', prefix='1 2'", ("a", "b")),
    Spec("""a, b, tokenize="unicode61 separators 'n' categories 'L* N* Mn'" """, ("a", "b")),
)


def kind(error: BaseException | str) -> str:
    """The kind of an error of FTS5 or of ours; the message itself where it is none of these."""
    message = str(error)
    return next((known for known in KINDS if known in message), message)


class Oracle:
    """Real FTS5 tables, one a spec, in one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        for number, spec in enumerate(SPECS):
            connection.execute(f"CREATE VIRTUAL TABLE temp.oracle{number} USING fts5({spec.text})")

    def verdict(self, spec: Spec, query: Value, row: Sequence[Value]) -> int | str:
        """1 or 0 as a table that holds just this row says, or the kind of its error."""
        table = f"oracle{SPECS.index(spec)}"
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"DELETE FROM temp.{table}")
        self.connection.execute(f"INSERT INTO temp.{table} VALUES ({marks})", tuple(row))
        try:
            found = self.connection.execute(
                f"SELECT count(*) FROM temp.{table} WHERE {table} MATCH ?", (query,)
            ).get
        except apsw.SQLError as error:
            return kind(error)
        return int(found)


def ours(
    connection: apsw.Connection, spec: Spec, query: Value, row: Sequence[Value]
) -> int | str | None:
    """The same from ``reasoning_match_columns``."""
    marks = ", ".join("?" * len(row))
    try:
        found = connection.execute(
            f"SELECT reasoning_match_columns(?, ?, {marks})", (spec.text, query, *row)
        ).get
    except apsw.SQLError as error:
        return kind(error)
    return None if found is None else int(found)


# ---- queries whose hits FTS5 itself does not know for sure --------------------------------------


def _is_unstable(node: dict[str, Any], needed: bool = True) -> bool:
    """Whether the hits that FTS5 gives a row may depend on what is in other rows.

    Where a row can match without a NEAR group that does not match, FTS5 counts the hits of its
    first phrases, and for the later ones what an earlier row has left. Where it can match without
    a NOT whose left side matches no row at all, FTS5 may count the hits of its right side.
    """
    if node["op"] == "near":
        return not needed and len(node["phrases"]) > 1
    if node["op"] == "not":
        left, right = node["children"]
        return not needed or _is_unstable(left) or _is_unstable(right, False)
    needed = needed and node["op"] == "and"
    return any(_is_unstable(child, needed) for child in node.get("children", ()))


def has_stable_hits(connection: apsw.Connection, spec: Spec, query: str) -> bool:
    """Whether FTS5 gives a row the same hits, whatever other rows are in the table."""
    tree = connection.execute("SELECT reasoning_parse(?, ?)", (spec.text, query)).get
    # A NOT whose left side is nothing is not even in the tree.
    return tree.count('"op":"not"') == query.count("NOT") and not _is_unstable(json.loads(tree))


# ---- generators: few words, so that matches are common ----------------------------------------

WORDS = ("one", "two", "three", "on", "o", "running", "runs", "tw", "é", "E", "One", "x-y", "a_b",
         "naïve", "naive", "ſun", "sun", "happiness", "happy", "日本")  # fmt: skip

words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=12).flatmap(
    lambda chosen: st.sampled_from([" ", ". ", "\x00", "-"]).map(lambda gap: gap.join(chosen))
)
values: st.SearchStrategy[Value] = st.one_of(
    texts, texts, texts, st.none(), st.sampled_from([12, -3.5, b"one two", b"", b"\xff one"])
)
specs = st.sampled_from(SPECS)


def rows(spec: Spec) -> st.SearchStrategy[tuple[Value, ...]]:
    return st.tuples(*[values] * len(spec.columns))


def quoted(word: str) -> str:
    return word if word.isascii() and word.isalnum() else f'"{word}"'


@st.composite
def atoms(draw: st.DrawFn, initial: bool = True) -> str:
    """A phrase."""
    first, second = draw(words), draw(words)
    form = draw(st.integers(0, 9 if initial else 8))
    return (
        quoted(first),
        quoted(first),
        f'"{first} {second}"',
        f"{quoted(first)} *",
        f"{quoted(first)} + {quoted(second)}*",
        f"{quoted(first)}* + {quoted(second)}",
        f'"{first}" + "..." *',
        '""',
        f'"{first}" + "{second}" + "{first}"',
        f"^{quoted(first)}",
    )[form]


@st.composite
def nears(draw: st.DrawFn) -> str:
    phrases = " ".join(draw(st.lists(atoms(initial=False), min_size=1, max_size=3)))
    distance = draw(st.sampled_from(["", ", 0", ", 1", ", 3", ",12"]))
    return f"NEAR({phrases}{distance})"


@st.composite
def filters(draw: st.DrawFn, columns: tuple[str, ...]) -> str:
    chosen = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=2))
    listed = "{" + " ".join(chosen) + "}"
    return draw(st.sampled_from([chosen[0], listed, f"-{chosen[0]}", f"- {listed}"]))


def queries(columns: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Valid queries, for the most part."""
    leaves = st.one_of(
        atoms(),
        atoms(),
        nears(),
        st.builds("{} : {}".format, filters(columns), st.one_of(atoms(), nears())),
        st.lists(atoms(), min_size=2, max_size=3).map(" ".join),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds("({}) {} ({})".format, inner, st.sampled_from(["AND", "OR", "NOT"]), inner),
            st.builds("{} {} {}".format, inner, st.sampled_from(["AND", "OR", "NOT"]), inner),
            st.builds("{} : ({})".format, filters(columns), inner),
        ),
        max_leaves=6,
    )


PIECES = (
    "(", ")", "{", "}", ":", ",", "+", "*", "-", "^", '"', "AND", "OR", "NOT", "NEAR", "NEAR(",
    "one", "a", "b", "zz", "\x00", "\n", '""', "1", "12345678901", "é", "'", ".", " ", "]", "text",
    ",3)", "one two", "foo(", "a : ", "{a b}",
)  # fmt: skip


@st.composite
def broken(draw: st.DrawFn, columns: tuple[str, ...]) -> str:
    """A valid query with some of its characters replaced."""
    query = list(draw(queries(columns)))
    for _ in range(draw(st.integers(1, 3))):
        query[draw(st.integers(0, len(query) - 1))] = draw(st.sampled_from(PIECES))
    return "".join(query)


def hostile_queries(columns: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Queries that are mostly not valid, deep ones among them."""
    depth = st.integers(94, 103)
    return st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
        st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join),
        broken(columns),
        broken(columns),
        depth.map(lambda n: "(" * n + "one" + ")" * n),
        depth.map(lambda n: "(" * n + "one*" + ")" * n),
        st.integers(22, 36).map(lambda n: f"{columns[0]} : (" * n + "one" + ")" * n),
        st.integers(252, 260).map(lambda n: "one" + " NOT two" * n),
        st.integers(40, 60).map(lambda n: "one NOT (" * n + "two" + ")" * n),
        st.integers(0, 300).map(lambda n: "one " * n + "AND (" + "two " * n + ")"),
    )
