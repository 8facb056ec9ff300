"""Writes the demo archive: a SQLite file in the layout of Hermes Agent 0.19 (schema 22).

The messages go in first, without indexes and triggers; then the agent's two search tables are
filled in one statement each and merged; the triggers come last. What is left equals what the
agent leaves after it optimised its indexes and closed the file: WAL mode, nothing in the WAL.

The file grows under a temporary name in the same folder and gets its name when it is complete,
so an interrupted run leaves nothing behind.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib import resources
from pathlib import Path
from random import Random

import apsw

from ..errors import FaultError, FileError, NoRoomError, UsageError
from ..progress import Progress
from .corpus import CorpusError, load_corpus
from .messages import COLUMNS, Counts, MessageMaker
from .plan import REFERENCE, Plan, Proportions, make_plan
from .writer import Writer

SCHEMA_VERSION = 22
SMALLEST_SCALE, LARGEST_SCALE = 0.0005, 20.0
# Bytes of the finished file at scale 1, and how much more the merge needs on the way.
_BYTES_AT_SCALE_1 = 2_400_000_000
_ROOM = 1.15
_REPORT_EVERY = 500
# An index is merged in steps of this many pages, so that an interrupt is noticed in time.
_MERGE_PAGES = 2_000
# Bytes of postings that FTS5 gathers before it writes a segment: what fits a processor's cache
# fills a trigram index several times faster. Two megabytes hold about 400,000 characters, and
# an index can have 2,000 segments; larger archives gather more, so as to stay below 1,000.
_HASH_BYTES = 2 << 20
_CHARACTERS_A_HASH_BYTE = 200
_SAID = "coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')"
_SEARCH_TABLES = ("messages_fts", "messages_fts_trigram")
_SOURCES = ("cli", "cli", "cli", "telegram", "discord", "slack", "cron", "api_server")
_MODELS = ("demo-large", "demo-large", "demo-small", "demo-reasoner")


@dataclass(frozen=True)
class DemoArchive:
    """What was written. Characters are code points; duplicates of a thought count once.

    content_characters: of the agent's index expression, its two separators a row included.
    rows_hidden: taken back by the user, so that the agent's search leaves them out.
    """

    path: str
    bytes: int
    rows: int
    rows_with_reasoning: int
    reasoning_characters: int
    content_characters: int
    turns_reasoning_only: int
    rows_unreadable: int
    rows_duplicate: int
    rows_orphaned: int
    rows_hidden: int
    seed: int
    scale: float
    seconds: float

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def generate(
    path: str | os.PathLike[str],
    *,
    scale: float = 0.05,
    seed: int = 0,
    progress: Progress | None = None,
    force: bool = False,
    proportions: Proportions = REFERENCE,
) -> DemoArchive:
    """Writes a demo archive of `scale` times the size of the reference archive to `path`.

    Other `proportions` give other shares of reasoning and lengths of rows.

    The same seed, scale and Python give the same rows. `progress(done, total, what)` is called
    now and then, with `done` rising from 0 to `total`; what it raises ends the run, as Ctrl-C
    does, and leaves no file. An existing file is replaced only with `force`.
    """
    began = time.monotonic()
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise UsageError(
            f"generate: the scale is {scale}, it must lie between {SMALLEST_SCALE} and "
            f"{LARGEST_SCALE:g}",
            "1 is the size of the reference archive (289,433 messages)",
        )
    target = Path(path).absolute()
    with _file_errors(target):
        target = target.resolve()
        _check_target(target, force)
        _check_room(target.parent, scale)
    rng = Random(f"reasoning-fts demo {seed} {scale}")
    try:
        corpus = load_corpus()
    except CorpusError as error:
        raise FaultError(str(error), "use a Python whose library is installed as source") from None
    plan = make_plan(scale, rng, proportions)
    ids = [_session_id(session.started, session.index) for session in plan.sessions]
    maker = MessageMaker(plan, Writer(corpus, rng), ids, rng)
    with _temporary(target) as partial:
        _fill(partial, plan, maker, _Steps(len(plan.rows), progress), rng)
        _check_target(target, force)
        with _file_errors(target):
            os.replace(partial, target)
    counts = maker.counts
    return DemoArchive(
        path=str(target),
        bytes=target.stat().st_size,
        rows=counts.rows,
        rows_with_reasoning=counts.reasoning_rows,
        reasoning_characters=counts.reasoning_characters,
        content_characters=counts.content_characters,
        turns_reasoning_only=counts.reasoning_only,
        rows_unreadable=counts.unreadable,
        rows_duplicate=counts.duplicate,
        rows_orphaned=counts.orphaned,
        rows_hidden=counts.hidden,
        seed=seed,
        scale=scale,
        seconds=round(time.monotonic() - began, 3),
    )


class _Steps:
    """Progress over four passes over the rows: write, two indexes, merge."""

    def __init__(self, rows: int, report: Progress | None) -> None:
        self._rows = rows
        self._report = report
        self._base = 0

    def at(self, row: int, what: str) -> None:
        if self._report is not None and row % _REPORT_EVERY == 0:
            self._report(self._base + min(row, self._rows), 4 * self._rows, what)

    def finish(self, passes: float, what: str) -> None:
        """The given number of passes is done now."""
        self._base = round(passes * self._rows)
        if self._report is not None:
            self._report(self._base, 4 * self._rows, what)


@contextmanager
def _file_errors(target: Path) -> Iterator[None]:
    """What the operating system says about a path, as an error of this package."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError(
            "permission",
            f"generate: cannot write {target} ({error})",
            "choose a name in a folder that you can write to",
        ) from error


def _check_target(target: Path, force: bool) -> None:
    if target.is_dir():
        raise FileError("directory", f"generate: {target} is a folder", "name a file in it")
    if target.exists() and not force:
        raise FileError(
            "exists",
            f"generate: {target} exists",
            "choose another name, or replace it with --force (force=True)",
        )
    for suffix in ("-wal", "-journal"):
        beside = target.with_name(target.name + suffix)
        if beside.exists():
            raise FileError(
                "in_use",
                f"generate: {beside} exists, so {target} is open or was not closed",
                "close the program that uses it, or choose another name; after a crash, opening "
                "and closing the file once with SQLite tidies up",
            )
    if not target.parent.is_dir():
        raise FileError(
            "not_found",
            f"generate: the folder {target.parent} does not exist",
            "create it first, or choose another one",
        )


def _check_room(folder: Path, scale: float) -> None:
    needed = int(_BYTES_AT_SCALE_1 * scale * _ROOM)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoRoomError(
            f"generate: {folder} has {free >> 20} MB free, scale {scale:g} needs {needed >> 20} MB",
            "choose a smaller scale or another folder",
        )


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A new name beside `target`; whatever is left of it at the end is removed."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        yield partial
    except apsw.FullError as error:
        raise NoRoomError(
            f"generate: the disk of {target.parent} filled up while writing ({error})",
            "choose a smaller scale or another folder",
            running=True,
        ) from error
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError) as error:
        raise FileError(
            "permission",
            f"generate: cannot write in {target.parent} ({error})",
            "choose a folder that you can write to",
        ) from error
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def _fill(partial: Path, plan: Plan, maker: MessageMaker, steps: _Steps, rng: Random) -> None:
    connection = apsw.Connection(str(partial))
    try:
        # Nothing here has to survive a crash: the file gets its name only when it is complete.
        for pragma in (
            "journal_mode = off",
            "synchronous = off",
            "locking_mode = exclusive",
            "cache_size = -131072",
            "temp_store = memory",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        # Python code has to run now and then for an interrupt to be noticed in long statements.
        connection.set_progress_handler(lambda: False, 2_000_000)
        schema = _schema()
        connection.execute(schema["tables"])
        _write_messages(connection, maker, steps)
        _write_sessions(connection, plan, maker, rng)
        connection.execute(schema["indexes"])
        connection.execute(schema["search"])
        for number, table in enumerate(_SEARCH_TABLES):
            _fill_search_table(connection, table, maker.counts, steps)
            steps.finish(2 + number, f"{table} is filled")
        for number, table in enumerate(_SEARCH_TABLES):
            _merge(connection, table)
            steps.finish(3.5 + 0.5 * number, f"{table} is merged")
        connection.execute(schema["triggers"])
        connection.set_progress_handler(None)
        connection.execute("PRAGMA locking_mode = normal").fetchall()
        connection.execute("PRAGMA journal_mode = wal").fetchall()
        # Locks taken in exclusive mode are given back by the next statement that reads.
        connection.execute("SELECT count(*) FROM schema_version").fetchall()
    finally:
        connection.close()


def _schema() -> dict[str, str]:
    """The statements of the layout, by section: tables, indexes, search, triggers."""
    text = resources.files(__package__).joinpath("hermes_0_19.sql").read_text(encoding="utf-8")
    sections: dict[str, str] = {}
    for part in text.split("-- ")[1:]:
        name, _, statements = part.partition("\n")
        sections[name.strip()] = statements
    return sections


def _write_messages(connection: apsw.Connection, maker: MessageMaker, steps: _Steps) -> None:
    def counted() -> Iterator[tuple[str | int | float | None, ...]]:
        for number, row in enumerate(maker.rows()):
            steps.at(number, "writing messages")
            yield row

    marks = ", ".join("?" * len(COLUMNS))
    connection.execute("BEGIN")
    connection.executemany(
        f"INSERT INTO messages ({', '.join(COLUMNS)}) VALUES ({marks})", counted()
    )
    connection.execute("INSERT INTO schema_version (version) VALUES (?)", (SCHEMA_VERSION,))
    connection.execute("COMMIT")
    steps.finish(1, "messages are written")


def _write_sessions(
    connection: apsw.Connection, plan: Plan, maker: MessageMaker, rng: Random
) -> None:
    counts = maker.counts
    connection.execute("BEGIN")
    for session in plan.sessions:
        title = maker.title(session.index) if rng.random() < 0.6 else None
        if session.orphaned:
            continue
        parent = session.parent
        connection.execute(
            "INSERT INTO sessions (id, source, model, parent_session_id, started_at, ended_at, "
            "end_reason, message_count, tool_call_count, cwd, title, rewind_count) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                _session_id(session.started, session.index),
                rng.choice(_SOURCES),
                rng.choice(_MODELS),
                None if parent is None else _session_id(plan.sessions[parent].started, parent),
                session.started,
                session.ended,
                "compression" if parent is not None else "user_exit",
                counts.messages_of.get(session.index, 0),
                counts.calls_of.get(session.index, 0),
                f"/home/demo/project{session.index % 12}",
                title,
                session.rewinds,
            ),
        )
    connection.execute("COMMIT")


def _session_id(started: float, index: int) -> str:
    """The agent's form: the start and six hexadecimal digits, here unique by themselves."""
    moment = datetime.fromtimestamp(started, timezone.utc)
    return f"{moment:%Y%m%d_%H%M%S}_{index:06x}"


def _fill_search_table(
    connection: apsw.Connection, table: str, counts: Counts, steps: _Steps
) -> None:
    """Indexes every message in one statement, in segments that are left to be merged once."""

    def seen(*row: str | int | float | bytes | None) -> int:
        if isinstance(row[0], int):
            steps.at(row[0], f"filling {table}")
        return 1

    hash_bytes = max(_HASH_BYTES, counts.content_characters // _CHARACTERS_A_HASH_BYTE)
    connection.create_scalar_function("demo_seen", seen, 1)
    for option, value in (("automerge", 0), ("crisismerge", 1999), ("hashsize", hash_bytes)):
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", (option, value))
    connection.execute(
        f"INSERT INTO {table} (rowid, content) SELECT id, {_SAID} FROM messages WHERE demo_seen(id)"
    )
    connection.create_scalar_function("demo_seen", None, 1)


def _merge(connection: apsw.Connection, table: str) -> None:
    """Merges the index to one segment, as the agent's own maintenance does, step by step."""
    pages = -_MERGE_PAGES
    while True:
        before = connection.total_changes()
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
        # A step that found nothing to merge changes one row or none.
        if connection.total_changes() - before < 2:
            break
        pages = _MERGE_PAGES
    # The agent's tables have no options of their own; these were for the filling alone.
    connection.execute(f"DELETE FROM {table}_config WHERE k <> 'version'")
