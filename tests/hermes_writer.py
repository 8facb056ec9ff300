"""Writes an archive with the agent's own code; run as a program, never imported.

Standard input is a JSON object: `package` (folder of the installed agent), `path` (the file to
write), `rows` (see `archives.write_hermes_archive`), `search` (queries for the agent's own
search, asked at the end). Standard output is a JSON object: `ids` of the rows in order, and
`found`, for each query the ids that the agent's search returns in its order.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ACTIONS = ("rewind", "compact")


def write(database: Any, rows: list[dict[str, Any]]) -> list[int]:
    """Appends the rows through the agent; an action on a row follows once all are written."""
    ids: list[int] = []
    known: set[str] = set()
    for row in rows:
        session = row.get("session", "s1")
        if session not in known and database.get_session(session) is None:
            database.create_session(session, row.get("source", "cli"), model="demo-model")
        known.add(session)
        values = {
            name: value
            for name, value in row.items()
            if name not in ("session", "source", *ACTIONS)
        }
        ids.append(database.append_message(session, **values))
    for row, identity in zip(rows, ids, strict=True):
        session = row.get("session", "s1")
        if row.get("rewind"):
            database.rewind_to_message(session, identity)
        if row.get("compact"):
            summary = {"role": "user", "content": row["compact"]}
            database.archive_and_compact(session, [summary])
    return ids


def main() -> None:
    order = json.load(sys.stdin)
    sys.path.insert(0, order["package"])
    from hermes_state import SessionDB

    database = SessionDB(Path(order["path"]))
    try:
        ids = write(database, order["rows"])
        found = {
            query: [hit["id"] for hit in database.search_messages(query, limit=1000)]
            for query in order.get("search", [])
        }
    finally:
        database.close()
    json.dump({"ids": ids, "found": found}, sys.stdout)


if __name__ == "__main__":
    main()
