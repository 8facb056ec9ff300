"""Archives of any shape: one table, its rows, opened by the columns' names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

import sqlite_reasoning_fts as rf


def write_table(path: Path, schema: str, rows: list[tuple[Any, ...]]) -> Path:
    """Makes a database with the table ``m``."""
    connection = apsw.Connection(str(path))
    connection.execute(schema)
    for row in rows:
        connection.execute(f"INSERT INTO m VALUES (?{', ?' * (len(row) - 1)})", row)
    connection.close()
    return path


def open_table(path: Path, schema: str, rows: list[tuple[Any, ...]], **columns: Any) -> rf.Archive:
    """Makes a database with the table ``m`` and opens it."""
    return rf.open(write_table(path, schema, rows), table="m", **columns)
