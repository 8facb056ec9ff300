"""LIKE as it is proposed to the agent as a flag: the condition at full strength.

Over what was said and thought together it is seven LIKEs a term and one ``json_tree`` over the
details. The truth is the same condition written out in Python: LIKE folds ASCII alone and ends at
a NUL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlite_reasoning_fts.compare.workload import KINDS, WorkloadQuery
from sqlite_reasoning_fts.database import as_text, text_as_blob
from sqlite_reasoning_fts.designs.like import Like, term_groups
from sqlite_reasoning_fts.selection import ordered

from ..measured import Measured
from .base import LIMIT, Peer

SAID = ("content", "tool_name", "tool_calls")
THOUGHT = ("reasoning", "reasoning_content")
DETAILS = "reasoning_details"


class LikeFlag(Peer):
    """The flag over said and thought, which is what the proposals search."""

    name = "LIKE flag"
    kinds = frozenset(KINDS)

    def __init__(self, measured: Measured, folder: Path) -> None:
        self._reader = measured.reader
        self._design = Like(measured.reader)
        self._truth: dict[str, list[int]] = {}

    @staticmethod
    def missing(measured: Measured) -> str | None:
        agent = measured.reader.adapter.agent
        if agent == "hermes":
            return None
        return f"the flag is proposed to Hermes Agent, and this archive is {agent}"

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        matches = self._design.matches(item.query, "all", ranked=False)
        return [row.rowid for row in ordered(self._reader, matches, "newest", limit=limit)]

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        text = item.query.fts5
        if text not in self._truth:
            self._find(text)
        return self._truth[text]

    def _find(self, text: str) -> None:
        groups = [
            [(term.encode().lower(), negated) for term, negated in group]
            for group in term_groups(text)
        ]
        self._truth[text] = [
            rowid
            for rowid, fields in self._rows
            if any(
                all(any(term in field for field in fields) != negated for term, negated in group)
                for group in groups
            )
        ]

    @cached_property
    def _rows(self) -> list[tuple[int, list[bytes]]]:
        """The visible rows, newest first, each with its texts in ASCII lower case."""
        return list(self._read())

    def _read(self) -> Iterator[tuple[int, list[bytes]]]:
        columns = (*SAID, *THOUGHT, DETAILS, "role")
        peer = self._reader.adapter.like
        listed = ", ".join(text_as_blob(f"m.{column}") for column in columns)
        sql = (
            f"SELECT {peer.rowid}, {listed} FROM {peer.source} WHERE {peer.visible} "
            f"ORDER BY {peer.newest_first}"
        )
        for rowid, *values in self._reader.database.rows(sql):
            *texts, details, role = map(as_text, values)
            if role != "assistant":
                texts = texts[: len(SAID)]
            fields = [str(text) for text in texts if text]
            if role == "assistant" and details:
                fields += _leaves(str(details))
            yield rowid, [field.partition("\0")[0].encode().lower() for field in fields]


def _leaves(text: str) -> list[str]:
    """The text leaves of JSON, or the text itself where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return [text]
    found: list[str] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
    return found
