"""Open WebUI: a conversation is one JSON value, searched through ``json_each`` with LOWER and LIKE.

A hit is a chat, not a message. Chats are answered with the latest first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..texts import Message
from .base import needle
from .database_peer import DatabasePeer


class OpenWebUI(DatabasePeer):
    name = "Open WebUI json_each"
    sql = (
        "SELECT c.id FROM chat AS c WHERE EXISTS (SELECT 1 FROM json_each(c.chat, '$.messages') "
        "AS message WHERE LOWER(message.value ->> 'content') LIKE ?) "
        "ORDER BY c.updated_at DESC, c.id DESC"
    )

    def fill(self, messages: Sequence[Message]) -> None:
        self.connection.execute(
            "CREATE TABLE chat(id TEXT PRIMARY KEY, updated_at REAL, chat JSON)"
        )
        self.connection.executemany(
            "INSERT INTO chat VALUES (?, ?, ?)",
            (
                (
                    session,
                    max(message.created_at or 0.0 for message in chat),
                    json.dumps({"messages": [_message(message) for message in chat]}),
                )
                for session, chat in self._chats().items()
            ),
        )

    def stored(self) -> int:
        return 0  # the chats are the agent's own rows

    def value(self, text: str) -> str:
        return f"%{text.lower()}%"

    def _chats(self) -> dict[str, list[Message]]:
        chats: dict[str, list[Message]] = {}
        for message in reversed(self.texts.messages):
            chats.setdefault(str(message.session), []).append(message)
        return chats

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        found = self.texts.containing(needle(item), ascii_only=True)
        sessions = {str(message.session) for message in found}
        latest = {
            session: max(message.created_at or 0.0 for message in chat)
            for session, chat in self._chats().items()
            if session in sessions
        }
        return sorted(latest, key=lambda session: (latest[session], session), reverse=True)


def _message(message: Message) -> dict[str, object]:
    return {"role": message.role, "timestamp": message.created_at, "content": message.thought}
