"""Makes archives for tests: with the real agent's own code, or with the demo generator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
from conftest import require

from sqlite_reasoning_fts.demo import DemoArchive, generate

HERMES = "hermes-agent==0.19.0"
THOUGHT_COLUMNS = "reasoning, reasoning_content, reasoning_details, codex_reasoning_items"
_WRITER = Path(__file__).with_name("hermes_writer.py")
_HASHER = """
import hashlib, json, os, sys
state = {}
for name in sys.argv[1:]:
    try:
        with open(name, "rb") as file:
            data = file.read()
        state[name] = [hashlib.sha256(data).hexdigest(), len(data)]
    except FileNotFoundError:
        state[name] = [None, None]
json.dump(state, sys.stdout)
"""

# One row of every kind that matters to a search over reasoning. `zebrafish` and `quokka` are
# said nowhere; `walrus` is thought and taken back; `sturgeon` is both thought and said.
HERMES_ROWS: tuple[dict[str, Any], ...] = (
    {"role": "user", "content": "Why does the build fail on the runner?"},
    {
        # A turn that only thinks and calls a tool.
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "terminal", "arguments": '{"command": "make all"}'},
            }
        ],
        "finish_reason": "tool_calls",
        "reasoning": "zebrafish: the linker flag is missing, so I run make first",
    },
    {
        "role": "tool",
        "content": "ld: undefined reference to sqrt",
        "tool_name": "terminal",
        "tool_call_id": "c1",
    },
    {
        # The same thought three times, once as JSON with escapes.
        "role": "assistant",
        "content": "Add -lm to the linker flags; sturgeon agrees.",
        "finish_reason": "stop",
        "reasoning": "quokka says that Ärger with sturgeon means libm: 需要链接",
        "reasoning_content": "quokka says that Ärger with sturgeon means libm: 需要链接",
        "reasoning_details": [
            {
                "type": "reasoning.text",
                "text": "quokka says that Ärger with sturgeon means libm: 需要链接",
            }
        ],
    },
    {
        # Reasoning that nobody can read, with nothing said either.
        "role": "assistant",
        "content": "",
        "codex_reasoning_items": [
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAABh", "summary": []}
        ],
    },
    {
        # An encrypted item whose summary is the reasoning.
        "role": "assistant",
        "content": "Done.",
        "reasoning": "narwhal: nothing is left to do",
        "codex_reasoning_items": [
            {
                "type": "reasoning",
                "id": "rs_2",
                "encrypted_content": "gAAAAABi",
                "summary": [{"type": "summary_text", "text": "narwhal: nothing is left to do"}],
            }
        ],
    },
    {
        # Only the JSON column holds the thought.
        "role": "assistant",
        "content": "One more thing.",
        "reasoning_details": [{"type": "reasoning.text", "text": "axolotl only in details"}],
    },
    {
        # A list of parts: the agent stores it behind a NUL.
        "role": "user",
        "content": [
            {"type": "text", "text": "what is in this picture?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        ],
    },
    {"role": "user", "content": "Forget this question.", "rewind": True},
    {
        # Taken back with the question before it.
        "role": "assistant",
        "content": "A hidden answer.",
        "reasoning": "walrus: taken back",
    },
    {
        "session": "s2",
        "source": "telegram",
        "role": "user",
        "content": "An old question.",
        "compact": "Summary of what was said before.",
    },
    {
        # Archived by a compaction, still found by the agent's search.
        "session": "s2",
        "role": "assistant",
        "content": "An old answer.",
        "reasoning_content": "pangolin: archived, not hidden",
    },
)


@dataclass(frozen=True)
class HermesArchive:
    """An archive that the agent wrote; `ids` in the order of the rows that were given."""

    path: Path
    ids: list[int]
    found: dict[str, list[int]]


def hermes_package(cache: Path) -> Path:
    """The folder of an installed agent, below `cache` (a folder that one session shares).

    Installed once, without its dependencies: the part that writes archives needs none.
    """
    target = cache / HERMES.replace("==", "-")
    if target.is_dir():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="installing-", dir=cache))
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--no-compile", "--target", str(fresh), HERMES,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(fresh, ignore_errors=True)
        lines = done.stderr.strip().splitlines() or ["no message"]
        require(f"{HERMES} cannot be installed: {lines[-1]}")
    try:
        fresh.rename(target)
    except OSError:
        # Another session was first.
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def write_hermes_archive(
    path: Path,
    rows: tuple[dict[str, Any], ...] | list[dict[str, Any]] = HERMES_ROWS,
    *,
    package: Path,
    search: tuple[str, ...] = (),
) -> HermesArchive:
    """Writes `rows` to `path` through the agent's own code, in a process of its own.

    A row holds the arguments of the agent's `append_message`, and may name its `session`
    (default `s1`) and `source`. `rewind` on a user's row takes it and all later rows of the
    session back; `compact` archives the rows of the session in favour of that summary.
    An existing archive is added to. `search` asks the agent's own search at the end.
    """
    order = {"package": str(package), "path": str(path), "rows": list(rows), "search": search}
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, str(_WRITER)],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "HOME": home, "HERMES_HOME": home},
        )
    if done.returncode:
        raise AssertionError(f"the agent could not write {path}:\n{done.stderr}")
    answer = json.loads(done.stdout)
    return HermesArchive(path, answer["ids"], answer["found"])


@contextmanager
def reading(path: str | Path) -> Iterator[apsw.Connection]:
    """A connection for a test that only reads.

    Opened for writing, so that SQLite itself removes the empty WAL that a reader needs.
    """
    opened = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        opened.execute("PRAGMA query_only = on")
        yield opened
    finally:
        opened.close()


def value(connection: apsw.Connection, sql: str, *parameters: Any) -> Any:
    return connection.execute(sql, parameters).fetchall()[0][0]


def decoded(columns: tuple[Any, ...]) -> set[str]:
    """The different readable thoughts in the four columns of a row."""
    reasoning, content, details, items = columns
    texts = {reasoning, content}
    texts.update(detail.get("text") for detail in json.loads(details or "[]"))
    for item in json.loads(items or "[]"):
        texts.update(part["text"] for part in item["summary"])
    return {text for text in texts if text}


def demo_archive(folder: Path, scale: float = 0.005, *, seed: int = 0) -> DemoArchive:
    """A small generated archive below `folder`."""
    return generate(folder / f"demo-{scale:g}-{seed}.db", scale=scale, seed=seed)


def file_state(path: Path) -> dict[str, object]:
    """What reading must leave alone: hash and size of the file and of its WAL; is there a -shm?

    The bytes are read by another process: a handle of our own, once closed, would drop the
    locks that this process holds on an open archive.
    """
    wal = f"{path}-wal"
    done = subprocess.run(
        [sys.executable, "-c", _HASHER, str(path), wal], capture_output=True, text=True, check=True
    )
    state = json.loads(done.stdout)
    return {
        "sha256": state[str(path)][0],
        "size": state[str(path)][1],
        "wal_sha256": state[wal][0],
        "wal_size": state[wal][1],
        "shm": Path(f"{path}-shm").exists(),
    }
