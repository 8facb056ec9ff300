"""Turns a plan into the values of the agent's message columns, row by row.

The reasoning is stored the ways that agents store it: in one column, in two that repeat it, as
JSON with escapes, beside or only as encrypted items. Whatever the way, the decoded thought of a
row is one text, and it counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from .plan import Kind, Plan, Row
from .writer import Call, Topic, Writer

COLUMNS = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
    "finish_reason", "reasoning", "reasoning_content", "reasoning_details",
    "codex_reasoning_items", "active", "compacted",
)  # fmt: skip
_ROLES = {
    Kind.USER: "user",
    Kind.CALL: "assistant",
    Kind.ANSWER: "assistant",
    Kind.TOOL: "tool",
}

Value = str | int | float | None


@dataclass(slots=True)
class Counts:
    """What the rows so far add up to; characters are code points."""

    rows: int = 0
    reasoning_rows: int = 0
    reasoning_characters: int = 0
    content_characters: int = 0
    reasoning_only: int = 0
    unreadable: int = 0
    duplicate: int = 0
    orphaned: int = 0
    hidden: int = 0
    messages_of: dict[int, int] = field(default_factory=dict)
    calls_of: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Thought:
    """The four columns that hold reasoning."""

    reasoning: str | None = None
    reasoning_content: str | None = None
    reasoning_details: str | None = None
    codex_reasoning_items: str | None = None


class MessageMaker:
    """Makes the rows of a plan, once, in order; `counts` grows along.

    Texts end at whole words, a little short of their planned length, and JSON is as long as it
    is. What a row lacks or has too much is carried to the next one, so that totals are met.
    """

    def __init__(self, plan: Plan, writer: Writer, session_ids: list[str], rng: Random) -> None:
        self.counts = Counts()
        self._plan = plan
        self._writer = writer
        self._session_ids = session_ids
        self._rng = rng
        self._topics: dict[int, Topic] = {}
        self._open_calls: dict[int, Call] = {}
        self._said_owed = 0
        self._thought_owed = 0

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """The values of COLUMNS for each message, ids counted from 1."""
        for number, row in enumerate(self._plan.rows, start=1):
            yield self._row(number, row)

    def title(self, session: int) -> str:
        """A title that no other session has."""
        return self._writer.title(self._topic(session), session)

    def _topic(self, session: int) -> Topic:
        """The subject of a session, made when first asked for."""
        topic = self._topics.get(session)
        if topic is None:
            topic = self._writer.topic(len(self._plan.sessions[session].rows))
            self._topics[session] = topic
        return topic

    def _row(self, number: int, row: Row) -> tuple[Value, ...]:
        topic = self._topic(row.session)
        thought = self._thought(row, topic)
        call_id = calls = tool = None
        finish = None
        # Two separators stand in the agent's index expression even where nothing else does.
        size = max(2, row.said // 2, row.said + self._said_owed) - 2
        content: str | None
        if row.kind is Kind.TOOL:
            call_id, tool = self._called(row)
            content = self._writer.output(max(1, size - len(tool)), topic)
        elif row.kind is Kind.USER:
            content = self._writer.question(max(2, size), topic)
        elif row.kind is Kind.CALL:
            content, calls = self._call(row, size, topic)
            finish = "tool_calls"
        elif row.silent:
            content, finish = "", "length"
        else:
            content, finish = self._writer.answer(max(2, size), topic), "stop"
        said = len(content or "") + len(tool or "") + len(calls or "") + 2
        self._said_owed += row.said - said
        self._count(row, said)
        return (
            number, self._session_ids[row.session], _ROLES[row.kind], content, call_id, calls,
            tool, row.time, finish, thought.reasoning, thought.reasoning_content,
            thought.reasoning_details, thought.codex_reasoning_items, row.active, row.compacted,
        )  # fmt: skip

    def _called(self, row: Row) -> tuple[str, str]:
        """The id and the tool that this result answers."""
        call = self._open_calls[row.session]
        return call.ids[row.calls], call.names[row.calls]

    def _call(self, row: Row, size: int, topic: Topic) -> tuple[str | None, str]:
        """The visible text (often none) and the tool calls of a turn that goes on."""
        random = self._rng.random
        content: str | None
        if row.silent or (not row.thought and random() < 0.6):
            content = "" if random() < 0.7 else None
        else:
            content = self._writer.answer(max(12, int(size * (0.15 + 0.25 * random()))), topic)
        call = self._writer.call(size - len(content or ""), row.calls, topic)
        self._open_calls[row.session] = call
        self.counts.calls_of[row.session] = self.counts.calls_of.get(row.session, 0) + row.calls
        return content, call.json

    def _thought(self, row: Row, topic: Topic) -> _Thought:
        counts = self.counts
        if row.encrypted:
            counts.unreadable += 1
            return self._encrypted()
        if not row.thought:
            return _Thought()
        size = max(row.thought // 2, row.thought + self._thought_owed, 2)
        text = self._writer.thought(size, topic)
        self._thought_owed += row.thought - len(text)
        counts.reasoning_rows += 1
        counts.reasoning_characters += len(text)
        counts.reasoning_only += row.silent
        stored = self._stored(text)
        counts.duplicate += sum(value is not None for value in vars(stored).values()) > 1
        return stored

    def _stored(self, text: str) -> _Thought:
        """The ways to store a thought, about as often as they are seen."""
        chance = self._rng.random()
        if chance < 0.49:
            return _Thought(text, text)
        if chance < 0.80:
            return _Thought(text)
        if chance < 0.86:
            return _Thought(None, text)
        detail = {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}
        if chance < 0.92:
            return _Thought(text, None, json.dumps([detail]))
        if chance < 0.95:
            return _Thought(text, text, json.dumps([detail]))
        if chance < 0.97:
            return _Thought(None, None, json.dumps([detail]))
        return _Thought(text, None, None, json.dumps([self._item([text])]))

    def _encrypted(self) -> _Thought:
        """Reasoning that is there and that nobody can read."""
        if self._rng.random() < 0.7:
            return _Thought(codex_reasoning_items=json.dumps([self._item([])]))
        detail = {"type": "reasoning.encrypted", "data": self._writer.secret(), "index": 0}
        return _Thought(reasoning_details=json.dumps([detail]))

    def _item(self, summaries: list[str]) -> dict[str, object]:
        return {
            "type": "reasoning",
            "id": f"rs_{self._rng.getrandbits(128):032x}",
            "encrypted_content": self._writer.secret(),
            "summary": [{"type": "summary_text", "text": text} for text in summaries],
        }

    def _count(self, row: Row, said: int) -> None:
        counts = self.counts
        counts.rows += 1
        counts.content_characters += said
        counts.orphaned += self._plan.sessions[row.session].orphaned
        counts.hidden += not (row.active or row.compacted)
        if row.active:
            counts.messages_of[row.session] = counts.messages_of.get(row.session, 0) + 1
