"""Python's and Node's modules as hosts; each call answers in a process of its own.

A host that this machine lacks ends the test through `require`, with what to install.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

from conftest import require
from install import HERE, has_node_sqlite
from loading_python import ROOT, LoadingPython
from questions import Answer, Sheet

import sqlite_reasoning_fts as rf

ENTRY = "sqlite3_reasoningfts_init"
INSTALLED = ROOT / "build" / "hosts"
AGAIN = "run: make hosts (it says what is missing)"
SECONDS = 120


def run(
    command: Sequence[str], *, text: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **(env or {})},
        check=False,
    )


def as_json(sheets: Iterable[Sheet]) -> list[dict[str, Any]]:
    return [
        {
            "path": str(sheet.path),
            "questions": [
                {"sql": question.sql, "parameters": dict(question.parameters)}
                for question in sheet.questions
            ],
        }
        for sheet in sheets
    ]


def from_json(answers: Iterable[dict[str, Any]]) -> list[Answer]:
    return [
        Answer(tuple(map(tuple, answer.get("rows", ()))), answer.get("error")) for answer in answers
    ]


def ordered(command: Sequence[str], order: dict[str, Any], env: dict[str, str]) -> dict[str, Any]:
    done = run(command, text=json.dumps(order), env=env)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


# ---- Python ------------------------------------------------------------------------------


def python_modules(
    python: LoadingPython,
    sheets: dict[str, Sequence[Sheet]],
    *,
    way: str,
    last: str = "SELECT reasoning_version()",
) -> tuple[dict[str, list[list[Answer]]], dict[str, Answer]]:
    """Answers of several modules in one process, and those to `last` after the first one left."""
    order = {
        "modules": list(sheets),
        "way": way,
        "sheets": {module: as_json(asked) for module, asked in sheets.items()},
        "last": last,
    }
    found = ordered(
        [python.executable, str(HERE / "ask_python.py")], order, {"PYTHONPATH": python.path}
    )
    answers = {module: list(map(from_json, lists)) for module, lists in found["answers"].items()}
    return answers, {module: from_json([one])[0] for module, one in found["last"].items()}


def python_module(
    python: LoadingPython, module: str, way: str, sheets: Sequence[Sheet]
) -> list[list[Answer]]:
    return python_modules(python, {module: sheets}, way=way)[0][module]


# ---- Node --------------------------------------------------------------------------------


@functools.cache
def better_sqlite3() -> tuple[str, dict[str, str]]:
    """The Node that better-sqlite3 is installed for, and the environment that finds it."""
    node = shutil.which("node")
    if node is None:
        require("node is not installed; install Node.js 20 or newer with npm, then run: make hosts")
    env = {"NODE_PATH": str(INSTALLED / "node" / "node_modules")}
    done = run([node, "-e", "new (require('better-sqlite3'))(':memory:').close()"], env=env)
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "Error" in line), "")
        require(f"better-sqlite3 is not installed for this node; {AGAIN}; {reason}")
    return node, env


@functools.cache
def node_sqlite() -> tuple[str, dict[str, str]]:
    """A Node that has node:sqlite: the system's, or the one that was installed for it."""
    installed = (INSTALLED / "node" / "node_modules").glob("node-*/bin/node")
    candidates = filter(None, [shutil.which("node"), *map(str, installed)])
    node = next(filter(has_node_sqlite, candidates), None)
    if node is None:
        require(f"no Node.js of version 22.16 or newer is installed; install one, or {AGAIN}")
    return node, {}


def node_module(module: str, entry: str | None, sheets: Sequence[Sheet]) -> list[list[Answer]]:
    node, env = node_sqlite() if module == "node:sqlite" else better_sqlite3()
    order = {
        "module": module,
        "library": rf.extension_path(),
        "entry": entry,
        "sheets": as_json(sheets),
    }
    found = ordered([node, str(HERE / "ask_node.js")], order, env)
    return list(map(from_json, found["answers"]))
