"""The examples of docs/sql.md: statements, each with its result in the comment lines below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TEXT = (Path(__file__).parent.parent / "docs" / "sql.md").read_text(encoding="utf-8")
SETUP, *BLOCKS = re.findall(r"^```sql\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A statement and the comment lines below it."""

    sql: str
    expected: tuple[str, ...]


def examples(block: str) -> Iterator[Example]:
    statement: list[str] = []
    expected: list[str] = []
    for line in block.splitlines():
        if line.startswith("-- "):
            expected.append(line[3:])
            continue
        if expected:
            yield Example("\n".join(statement), tuple(expected))
            statement, expected = [], []
        statement.append(line)
    yield Example("\n".join(statement), tuple(expected))


EXAMPLES = tuple(example for block in BLOCKS for example in examples(block))
