"""reasoning_parse gives the tree that FTS5 would evaluate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import apsw
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Oracle, Spec, Value

import sqlite_reasoning_fts as rf

Node = dict[str, Any]


def phrase_sizes(api: apsw.FTS5ExtensionApi, /, *_: Value) -> str:
    return json.dumps([len(phrase) for phrase in api.phrases])


@pytest.fixture(scope="module")
def real() -> Iterator[Oracle]:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    connection.register_fts5_function("phrase_sizes", phrase_sizes)
    yield Oracle(connection)
    connection.close()


def parse(connection: apsw.Connection, query: str, spec: str = "a, b, c") -> Node:
    tree = json.loads(connection.execute("SELECT reasoning_parse(?, ?)", (spec, query)).get)
    assert isinstance(tree, dict)
    return tree


def leaves(node: Node) -> Iterator[Node]:
    if node["op"] == "near":
        yield node
    for child in node.get("children", ()):
        yield from leaves(child)


def evaluate(real: Oracle, spec: Spec, node: Node, row: tuple[Value, ...]) -> bool:
    """The tree's verdict, each leaf asked of FTS5 by its own query."""
    if node["op"] == "nothing":
        return False
    if node["op"] == "near":
        return real.verdict(spec, node["query"], row) == 1
    children = [evaluate(real, spec, child, row) for child in node["children"]]
    if node["op"] == "not":
        return children[0] and not children[1]
    return all(children) if node["op"] == "and" else any(children)


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), spec=oracle.specs)
def test_the_leaves_combine_to_the_answer_of_the_query(
    real: Oracle, data: st.DataObject, spec: Spec
) -> None:
    query = data.draw(oracle.queries(spec.columns))
    row = data.draw(oracle.rows(spec))
    expected = real.verdict(spec, query, row)
    if isinstance(expected, int):
        tree = parse(real.connection, query, spec.text)
        assert evaluate(real, spec, tree, row) == (expected == 1)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), spec=oracle.specs)
def test_phrases_have_the_numbers_of_fts5(real: Oracle, data: st.DataObject, spec: Spec) -> None:
    query = data.draw(oracle.queries(spec.columns))
    row = ("one two three runs running naive happy",) * len(spec.columns)
    if real.verdict(spec, query, row) != 1:
        return
    table = f"oracle{oracle.SPECS.index(spec)}"
    sql = f"SELECT phrase_sizes({table}) FROM temp.{table} WHERE {table} MATCH ?"
    sizes = json.loads(real.connection.execute(sql, (query,)).get)
    for leaf in leaves(parse(real.connection, query, spec.text)):
        for phrase in leaf["phrases"]:
            assert len(phrase["tokens"]) == sizes[phrase["index"]]


def test_a_leaf_has_tokens_words_and_flags(connection: apsw.Connection) -> None:
    tree = parse(connection, '^"The Quick" + br*')
    assert tree == {
        "op": "near",
        "distance": 10,
        "columns": None,
        "phrases": [
            {
                "tokens": [["the"], ["quick"], ["br"]],
                "words": ["The", "Quick", "br"],
                "prefixes": [False, False, True],
                "prefix": True,
                "initial": True,
                "index": 0,
                "text": '^"The Quick" + "br"*',
            }
        ],
        "text": '^"The Quick" + "br"*',
        "query": '^"The Quick" + "br"*',
    }


def test_column_sets_narrow_to_the_leaf(connection: apsw.Connection) -> None:
    tree = parse(connection, "{a b} : (one AND b : NEAR(two three, 4))")
    one, near = tree["children"]
    assert (one["columns"], one["query"]) == ([0, 1], '{"a" "b"} : "one"')
    assert (near["columns"], near["query"]) == ([1], '{"b"} : NEAR("two" "three", 4)')
    assert [phrase["index"] for phrase in near["phrases"]] == [1, 2]


def test_operators_of_one_kind_are_one_node(connection: apsw.Connection) -> None:
    assert len(parse(connection, "one AND two three AND (a AND b)")["children"]) == 5
    assert parse(connection, "one NOT two NOT three")["children"][0]["op"] == "not"


@pytest.mark.parametrize(
    "query",
    ['""', '"" AND one', '"" OR ""', '"" NOT one', "a : (b : (one))", "-{a b c} : one", '"..."',
     "(-{a b c} : one) AND two"],
)  # fmt: skip
def test_what_can_match_nothing_is_nothing(connection: apsw.Connection, query: str) -> None:
    assert parse(connection, query) == {"op": "nothing"}


def test_a_column_without_an_index_matches_nothing(connection: apsw.Connection) -> None:
    tree = parse(connection, "a : one OR two", "a UNINDEXED, b")
    assert (tree["op"], tree["phrases"][0]["index"]) == ("near", 1)


def test_eliminated_strings_have_no_number(connection: apsw.Connection) -> None:
    tree = parse(connection, 'one "" two AND "..." three')
    assert [leaf["phrases"][0]["index"] for leaf in leaves(tree)] == [0, 1, 2]


def test_phrases_that_match_nothing_keep_their_number(connection: apsw.Connection) -> None:
    assert parse(connection, '"" OR one')["phrases"][0]["index"] == 1


def test_names_and_strings_are_quoted(connection: apsw.Connection) -> None:
    spec = '"say ""hi""", b'
    tree = parse(connection, '"say ""hi""" : "a ""b"""', spec)
    assert tree["query"] == '{"say ""hi"""} : "a ""b"""'
    assert parse(connection, tree["query"], spec) == tree


def test_tokens_are_those_of_the_tokenizer(connection: apsw.Connection) -> None:
    tree = parse(connection, '"Running dogs"', "a, tokenize='porter'")
    assert tree["phrases"][0]["tokens"] == [["run"], ["dog"]]
    assert tree["phrases"][0]["words"] == ["Running", "dogs"]


def test_tokens_that_are_not_utf_8_still_give_json(connection: apsw.Connection) -> None:
    query = '"' + "a" * 32767 + '日"'
    tokens = parse(connection, query)["phrases"][0]["tokens"]
    assert tokens == [["a" * 32767 + "�"]]


def test_an_error_names_the_function(connection: apsw.Connection) -> None:
    with pytest.raises(apsw.SQLError, match=r"reasoning_parse: no such column: x at byte 0"):
        parse(connection, "x : one")
    with pytest.raises(apsw.SQLError, match="reasoning_parse: the spec is NULL"):
        connection.execute("SELECT reasoning_parse(NULL, 'one')").fetchall()
    with pytest.raises(apsw.SQLError, match="reasoning_parse: the query is NULL"):
        connection.execute("SELECT reasoning_parse('a', NULL)").fetchall()
