"""SQL expressions that decode stored reasoning, made of SQLite's built-in functions alone.

What agents store is plain text, a JSON list of parts, a JSON document with the text some levels
down, or any of these encoded as a JSON string once more. What must never be indexed stands beside
it: signatures, encrypted or redacted blocks, base64 and ``data:`` URLs.
"""

from __future__ import annotations

TEXT_KEYS = ("text", "thinking", "reasoning", "reasoning_content", "content", "summary", "thought")
"""Keys of JSON members that hold reasoning; strings in an array count as well."""

UNREADABLE_MARKS = ('"encrypted_content"', '"redacted_thinking"', '"reasoning.encrypted"')
"""What stands in a JSON text whose reasoning is present but cannot be read."""


def looks_like_json(expression: str) -> str:
    """Whether a text is a JSON document that may hold text: an array, an object or a string."""
    return (
        f"CASE WHEN substr(ltrim({expression}), 1, 1) IN ('[', '{{', '\"') "
        f"THEN json_valid({expression}) ELSE 0 END"
    )


def unwrapped(expression: str) -> str:
    """JSON that was encoded as a JSON string is opened, twice at most."""
    once = (
        f"CASE WHEN json_type({expression}) = 'text' "
        f"AND json_valid(json_extract({expression}, '$')) "
        f"THEN json_extract({expression}, '$') ELSE {expression} END"
    )
    # The inner value is named by a subquery: repeating its expression would double at each level.
    return (
        f"(SELECT CASE WHEN json_type(j) = 'text' AND json_valid(json_extract(j, '$')) "
        f"THEN json_extract(j, '$') ELSE j END FROM (SELECT {once} AS j))"
    )


def json_texts(expression: str) -> str:
    """The text leaves of a JSON document, one a line, in document order; NULL if there is none.

    The expression must be valid JSON wherever this is evaluated.
    """
    keys = ", ".join(f"'{key}'" for key in TEXT_KEYS)
    return (
        "(SELECT group_concat(leaf, char(10)) FROM ("
        f"SELECT t.value AS leaf FROM json_tree({unwrapped(expression)}) AS t "
        f"WHERE t.type = 'text' AND t.value <> '' AND (t.key IN ({keys}) "
        "OR typeof(t.key) = 'integer' OR t.key IS NULL) "
        "AND substr(t.value, 1, 5) <> 'data:' ORDER BY t.id))"
    )


def decoded(expression: str) -> str:
    """A column's text: the leaves where it is JSON, itself where it is not."""
    return (
        f"CASE WHEN {looks_like_json(expression)} THEN {json_texts(expression)} "
        f"ELSE {expression} END"
    )


def is_unreadable(expression: str) -> str:
    """1 where a column says that it holds encrypted or redacted reasoning."""
    marks = " OR ".join(f"instr({expression}, '{mark}')" for mark in UNREADABLE_MARKS)
    return f"({expression} IS NOT NULL AND ({marks}))"


def joined_once(parts: list[str]) -> str:
    """Distinct, non-empty parts, one after the other on lines of their own; NULL if all are empty.

    The same text in two columns is kept once. Each part is read once: MATERIALIZED keeps SQLite
    from repeating its expression, which may decode JSON, in every comparison.
    """
    names = [f"p{number}" for number in range(len(parts))]
    values = ", ".join(f"COALESCE({part}, '')" for part in parts)
    pieces = []
    for number, name in enumerate(names):
        before = names[:number]
        known = f" OR {name} IN ({', '.join(before)})" if before else ""
        first = f" WHEN {' || '.join(before)} = '' THEN {name}" if before else ""
        line = f"char(10) || {name}" if before else name
        pieces.append(f"CASE WHEN {name} = ''{known} THEN ''{first} ELSE {line} END")
    return (
        f"(WITH p({', '.join(names)}) AS MATERIALIZED (SELECT {values}) "
        f"SELECT nullif({' || '.join(pieces)}, '') FROM p)"
    )


def unix_seconds(expression: str) -> str:
    """A time as Unix seconds, from seconds, milli-, micro- or nanoseconds, or an ISO 8601 text.

    What is no time of the years 0 to 9999 is NULL.
    """
    seconds = _unix_seconds(expression)
    return f"(SELECT CASE WHEN abs(s) < 253402300800 THEN s END FROM (SELECT {seconds} AS s))"


def _unix_seconds(expression: str) -> str:
    return (
        f"CASE typeof({expression}) "
        f"WHEN 'text' THEN CASE WHEN CAST({expression} AS REAL) > 100000000 "
        f"THEN {_scaled(f'CAST({expression} AS REAL)')} "
        f"ELSE round((julianday({expression}) - 2440587.5) * 86400.0, 3) END "
        f"WHEN 'null' THEN NULL WHEN 'blob' THEN NULL ELSE {_scaled(expression)} END"
    )


def _scaled(expression: str) -> str:
    return (
        f"CASE WHEN {expression} > 100000000000000000 THEN {expression} / 1000000000.0 "
        f"WHEN {expression} > 100000000000000 THEN {expression} / 1000000.0 "
        f"WHEN {expression} > 100000000000 THEN {expression} / 1000.0 "
        f"ELSE {expression} * 1.0 END"
    )
