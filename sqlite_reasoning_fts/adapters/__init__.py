"""The agents whose archives are recognised, and the way to name any other table."""

from __future__ import annotations

from collections.abc import Callable

from ..database import Database
from ..errors import FileError, UsageError
from . import hermes
from .base import Adapter
from .generic import Columns, describe, tables

RECOGNISERS: dict[str, Callable[[Database], Adapter | None]] = {"hermes": hermes.recognise}
"""Each known agent with the function that recognises its schema."""


def find_adapter(
    database: Database, name: str | None = None, columns: Columns | None = None
) -> Adapter:
    """The adapter for a file: the one that is named, the table that is described, or the first
    that recognises the schema."""
    if columns is not None:
        if name not in (None, "generic"):
            raise UsageError(
                f"adapter {name} knows its own table, so none can be named",
                "leave out either --adapter or --table",
            )
        return describe(database, columns)
    if name is not None and name not in RECOGNISERS:
        known = ", ".join(RECOGNISERS)
        hint = "name the table with --table" if name == "generic" else f"known: {known}, generic"
        raise UsageError(
            f"unknown adapter {name}" if name != "generic" else "the generic adapter needs a table",
            hint,
        )
    for agent, recognise in RECOGNISERS.items():
        if name in (None, agent):
            adapter = recognise(database)
            if adapter is not None:
                return adapter
    found = tables(database)
    what = f"holds no {name} archive" if name else "holds no archive of a known agent"
    raise FileError(
        "no_agent",
        f"{database.path}: {what} (known: {', '.join(RECOGNISERS)})",
        "name its table: --table NAME --said COLUMN --thought COLUMN; "
        + (f"it has: {', '.join(found[:20])}" if found else "it has no tables at all"),
    )
