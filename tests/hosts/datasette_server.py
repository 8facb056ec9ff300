"""Datasette as a host: a server on loopback, asked over HTTP for JSON."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from conftest import require
from programs import AGAIN, INSTALLED, SECONDS, run
from questions import Answer, Question, Sheet

PYTHON = INSTALLED / "datasette" / "bin" / "python"
# No proxy of the environment stands between the test and the loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def program() -> list[str]:
    command = [str(PYTHON), "-m", "datasette"]
    if not PYTHON.exists() or run([*command, "--version"]).returncode != 0:
        require(f"Datasette is not installed; {AGAIN}")
    return command


@contextmanager
def serving(sheets: Sequence[Sheet], extension: str) -> Iterator[str]:
    """A server of the sheets' files on a free port; gives its address and ends with the block."""
    command = [*program(), "serve", *(str(sheet.path) for sheet in sheets)]
    command += ["--load-extension", extension, "--host", "127.0.0.1", "--port", "0"]
    command += ["--setting", "sql_time_limit_ms", "30000"]
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    said: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        assert server.stderr is not None
        for line in server.stderr:
            said.put(line)
        said.put("")

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield address(said)
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        listener.join(timeout=10)
        assert server.stderr is not None
        server.stderr.close()


def address(said: queue.SimpleQueue[str]) -> str:
    """Waits for the line that tells the port."""
    heard = []
    while line := said.get(timeout=SECONDS):
        heard.append(line)
        found = re.search(r"running on (http://127\.0\.0\.1:\d+)", line)
        if found:
            return found.group(1)
    raise AssertionError(f"Datasette ended before it served: {''.join(heard)}")


def ask(base: str, database: str, question: Question) -> Answer:
    values = {"sql": question.sql, "_shape": "arrays", **question.parameters}
    url = f"{base}/{database}.json?{urllib.parse.urlencode(values)}"
    try:
        with OPENER.open(url, timeout=SECONDS) as response:
            found = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error=json.load(error)["error"])
    assert not found["truncated"], "Datasette cuts the answer; ask for fewer rows"
    return Answer(rows=tuple(map(tuple, found["rows"])))


def ask_all(sheets: Sequence[Sheet], extension: str) -> list[list[Answer]]:
    with serving(sheets, extension) as base:
        return [
            [ask(base, sheet.path.stem, question) for question in sheet.questions]
            for sheet in sheets
        ]
