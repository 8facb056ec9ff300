"""A thin face over a SQLite connection, the host's or ours, apsw's or the standard library's.

It exists so that the layers above neither care which of the two libraries they run on nor see its
exceptions: what SQLite reports is turned into the errors of this package here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from .errors import FaultError, FileError, NoRoomError, QueryError, ReasoningFtsError

Row = tuple[Any, ...]


class Connection(Protocol):
    """What apsw.Connection and sqlite3.Connection share, as far as it is used here."""

    def cursor(self) -> Any: ...


def quote_name(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def as_text(value: Any) -> Any:
    """A value as it is, but text that was read as a blob, since it may be no valid UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def text_as_blob(name: str) -> str:
    """SQL that reads a text as a blob, for ``as_text``, and anything else as it is."""
    return f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"


def quote_text(value: str) -> str:
    """An SQL text literal."""
    return "'" + value.replace("'", "''") + "'"


class Database:
    """Runs SQL on one connection. ``schema`` is where the archive's tables are."""

    def __init__(self, connection: Connection, *, schema: str = "main", path: str = "") -> None:
        self.connection = connection
        self.schema = schema
        self.path = path

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query, one at a time where the library allows it."""
        if self._is_standard_library:
            yield from self.all(sql, parameters)
            return
        with self._translated():
            yield from self.connection.cursor().execute(sql, tuple(parameters))

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query, as plain tuples."""
        with self._translated():
            if self._is_standard_library:
                return self._plain_rows(sql, parameters)
            rows: list[Row] = self.connection.cursor().execute(sql, tuple(parameters)).fetchall()
            return rows

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row, ``None`` where there is no row."""
        rows = self.all(sql, parameters)
        return rows[0][0] if rows else None

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """A statement whose rows do not matter."""
        self.all(sql, parameters)

    def pragma(self, name: str, schema: str | None = None) -> Any:
        """The value of a pragma."""
        return self.value(f"PRAGMA {quote_name(schema or self.schema)}.{name}")

    def columns_of(self, table: str) -> dict[str, str]:
        """Names and declared types of a table's or view's columns, in order; empty if none."""
        rows = self.all(
            "SELECT name, type FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid",
            (table, self.schema),
        )
        return {str(name): str(kind) for name, kind in rows}

    def table(self, name: str) -> str:
        """A table's name with the archive's schema, quoted."""
        return f"{quote_name(self.schema)}.{quote_name(name)}"

    def free_temporary_name(self, base: str) -> str:
        """A name that no temporary object of the connection has yet."""
        taken = {str(row[0]).lower() for row in self.all("SELECT name FROM temp.sqlite_schema")}
        number, name = 1, base
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name

    @contextmanager
    def temporary_objects_allowed(self) -> Iterator[None]:
        """``query_only`` forbids temporary objects as well, so it is off for a moment."""
        guarded = bool(self.value("PRAGMA query_only"))
        self.run("PRAGMA query_only = 0")
        try:
            yield
        finally:
            self.run(f"PRAGMA query_only = {int(guarded)}")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads see the archive at one moment: a transaction, unless the host has one open."""
        connection: Any = self.connection
        if connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
        finally:
            # An interrupted statement that makes a temporary object ends the transaction itself.
            if connection.in_transaction:
                self.run("COMMIT")

    @property
    def sqlite_version(self) -> str:
        return str(self.value("SELECT sqlite_version()"))

    @property
    def _is_standard_library(self) -> bool:
        return hasattr(self.connection, "text_factory")

    def _plain_rows(self, sql: str, parameters: Sequence[Any]) -> list[Row]:
        """Tuples of text and numbers, whatever factories the host has set on its connection."""
        connection: Any = self.connection
        factory = connection.text_factory
        cursor = connection.cursor()
        cursor.row_factory = None
        connection.text_factory = str
        try:
            rows: list[Row] = cursor.execute(sql, tuple(parameters)).fetchall()
            return rows
        finally:
            connection.text_factory = factory

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, ReasoningFtsError):
            raise
        except Exception as error:
            translated = translate(error, self.path)
            if translated is None:
                raise
            raise translated from error


def translate(error: Exception, path: str = "") -> ReasoningFtsError | None:
    """The package's error for what apsw or sqlite3 raised; ``None`` for anything else."""
    module = type(error).__module__
    if not (module.startswith("apsw") or module == "sqlite3"):
        return None
    code = getattr(error, "result", None) or getattr(error, "sqlite_errorcode", 0) or 0
    name = _NAMES.get(int(code) & 0xFF, "")
    if not name:  # sqlite3 before Python 3.11 carries no code
        text = str(error)
        name = next((n for part, n in _TEXTS.items() if part in text), "error")
    where = f"{path}: " if path else ""
    text = str(error).removeprefix(f"{type(error).__name__}: ")
    if name == "notadb":
        return FileError(
            "not_a_database",
            f"{where}not a SQLite database, or an encrypted one",
            "give the agent's database file itself; an encrypted one has to be decrypted first",
        )
    if name == "busy":
        return FileError(
            "in_use",
            f"{where}another process holds a lock on the database ({text})",
            "wait until it is done, or stop the agent, and try again",
        )
    if name == "full":
        return NoRoomError(
            f"{where}the disk is full ({text})",
            "free some room, or set TMPDIR to a folder on a larger disk, and run it again",
        )
    if name == "corrupt":
        return FileError(
            "damaged",
            f"{where}the database is damaged ({text})",
            "run PRAGMA integrity_check on a copy; nothing was changed",
        )
    if name == "cantopen":
        return FileError(
            "cannot_open",
            f"{where}the database cannot be opened ({text})",
            "check that the file and its folder can be read",
        )
    if name == "ioerr":
        return FaultError(f"{where}reading or writing failed ({text})", "check the disk")
    if name == "interrupt":
        return FaultError(f"{where}interrupted", None)
    if "Expression tree is too large" in text or "pattern too complex" in text:
        return QueryError(f"the query is too large for LIKE ({text})", "use a shorter query")
    if text.startswith(
        (
            "reasoning_",
            "fts5:",
            "no such column",
            "unknown special query",
            "unterminated string",
            "malformed MATCH",
        )
    ):
        return QueryError(text, "put words in double quotes, or use the plain-text syntax")
    return FaultError(f"{where}{text}", None)


_NAMES = {
    1: "error",
    5: "busy",
    6: "busy",
    9: "interrupt",
    10: "ioerr",
    11: "corrupt",
    13: "full",
    14: "cantopen",
    26: "notadb",
}
_TEXTS = {
    "not a database": "notadb",
    "locked": "busy",
    "disk is full": "full",
    "malformed": "corrupt",
    "unable to open": "cantopen",
    "disk I/O": "ioerr",
    "interrupted": "interrupt",
}
