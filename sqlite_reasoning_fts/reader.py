"""One archive on one connection, ready to be asked: projection, spec, counts, queries."""

from __future__ import annotations

from dataclasses import dataclass

from .adapters.base import Adapter
from .database import Database, quote_name
from .loading import load
from .projection import THOUGHT
from .query import Query, parse

STORED_LIMIT = 16
"""How many stored columns ``reasoning_scan`` takes."""


@dataclass(frozen=True)
class RowCounts:
    """What a search covers: all rows, those with reasoning, those whose reasoning is unreadable."""

    rows: int
    rows_with_reasoning: int
    rows_unreadable: int


class Reader:
    """Reads an archive through its projection; makes temporary objects alone."""

    def __init__(self, database: Database, adapter: Adapter) -> None:
        self.database = database
        self.adapter = adapter
        self.projection = adapter.projection
        self._row_count: tuple[tuple[int, int], int] | None = None
        load(database.connection)
        # Two archives on one connection have a view each.
        self._view = database.free_temporary_name("reasoning_projection")
        self._prepare()

    def _prepare(self) -> None:
        """Makes the view and what it needs; nothing is written to any file."""
        # Looked up first: a commit that comes in between makes the objects stale, and not unseen.
        state = self.state()
        with self.database.temporary_objects_allowed():
            for statement in self.adapter.setup:
                self.database.run(statement)
            self.database.run(f"DROP VIEW IF EXISTS {self.source}")
            self.database.run(f"CREATE TEMP VIEW {self._view} AS {self.projection.select()}")
        self._prepared_in = state

    def refresh(self) -> None:
        """Makes the view again where the host's rollback took it, or where the rows that it
        numbers have changed."""
        view = "SELECT count(*) FROM temp.sqlite_schema WHERE name = ?"
        stale = bool(self.adapter.setup) and self._prepared_in != self.state()
        if stale or not self.database.value(view, (self._view,)):
            self._prepare()

    def close(self) -> None:
        """Drops the temporary objects, for a connection that lives on."""
        with self.database.temporary_objects_allowed():
            self.database.run(f"DROP VIEW IF EXISTS {self.source}")
            for statement in self.adapter.teardown:
                self.database.run(statement)

    @property
    def source(self) -> str:
        """The projection's view, as ``reasoning_scan`` takes it."""
        return f"temp.{self._view}"

    @property
    def options(self) -> tuple[str, ...]:
        """The FTS5 options that decide what matches, the agent's own where it has an index."""
        index = self.adapter.own_index
        return index.options if index else ()

    @property
    def columns(self) -> tuple[str, ...]:
        return self.projection.columns

    @property
    def thought_number(self) -> str:
        """The column set of the thought, by number."""
        return str(len(self.projection.said))

    def scope_columns(self, scope: str) -> tuple[str, ...]:
        """The names of the columns in a scope."""
        if scope == "said":
            return self.projection.said_names
        return (THOUGHT,) if scope == "thought" else self.columns

    def spec(self, scope: str = "all") -> str:
        """The arguments of the FTS5 table that a scope is: columns outside it are UNINDEXED."""
        inside = self.scope_columns(scope)
        listed = [
            quote_name(column) + ("" if column in inside else " UNINDEXED")
            for column in self.columns
        ]
        return ", ".join([*listed, *self.options])

    def stored(self, scope: str) -> str | None:
        """The columns of the view that hold a scope's text undecoded, as ``reasoning_scan`` takes
        them; ``None`` where the adapter does not know, or there are too many."""
        projection = self.projection
        said, thought = projection.said_stored, projection.thought_stored
        if (scope != "thought" and not said and projection.said) or not thought:
            return None
        columns = {"said": said, "thought": thought, "all": tuple(dict.fromkeys(said + thought))}
        names = [projection.stored_name(column) for column in columns[scope]]
        return ", ".join(names) if 0 < len(names) <= STORED_LIMIT else None

    def parse(self, text: str, syntax: str = "text") -> Query:
        """Understands a query over this archive's columns."""
        return parse(self.database, text, syntax, self.spec(), self.columns)

    def row_count(self) -> int:
        """The number of rows, hidden ones included: the N of every rank."""
        state = self.state()
        if self._row_count is None or self._row_count[0] != state:
            rows = int(self.database.value(f"SELECT count(*) FROM {self.source}"))
            self._row_count = (state, rows)
        return self._row_count[1]

    def state(self) -> tuple[int, int]:
        """Changes when this connection or another has changed the archive's file."""
        changes = int(self.database.value("SELECT total_changes()"))
        return int(self.database.pragma("data_version")), changes

    def counts(self, scope: str) -> RowCounts:
        """What a search within a scope covers; the reasoning is looked at where it is asked for."""
        if scope == "said":
            return RowCounts(self.row_count(), 0, 0)
        return self.counts_of()

    def counts_of(self, rows: tuple[int, int] | None = None) -> RowCounts:
        """The counts of a range of rows (first, last), or of all."""
        within = "" if rows is None else " WHERE rowid BETWEEN ? AND ?"
        row = self.database.all(
            f"SELECT count(*), count({THOUGHT}), total(unreadable) FROM {self.source}{within}",
            rows or (),
        )[0]
        return RowCounts(int(row[0]), int(row[1]), int(row[2]))

    def thought_in_order_of_time(self) -> bool:
        """Whether of two rows with thought the one with the higher rowid is always the newer, as
        the order of an answer has it: later, or as late with a greater key."""
        later = (
            "(before IS NULL AND created_at IS NOT NULL) OR created_at > before "
            "OR (created_at IS before AND key COLLATE BINARY > key_before)"
        )
        sql = (
            f"SELECT NOT EXISTS (SELECT 1 FROM (SELECT created_at, key, "
            "lag(created_at) OVER rows AS before, lag(key) OVER rows AS key_before, "
            f"row_number() OVER rows AS number FROM {self.source} WHERE {THOUGHT} IS NOT NULL "
            f"WINDOW rows AS (ORDER BY rowid)) WHERE number > 1 AND NOT COALESCE({later}, 0))"
        )
        return bool(self.database.value(sql))

    def row_ranges(self, chunk: int = 4096, where: str = "1") -> list[tuple[int, int]]:
        """Rowid ranges (first, last) of about ``chunk`` rows each, in order."""
        rows = self.database.all(
            f"SELECT min(rowid), max(rowid) FROM (SELECT rowid, "
            f"(row_number() OVER (ORDER BY rowid) - 1) / ? AS part FROM {self.source} "
            f"WHERE {where}) GROUP BY part ORDER BY 1",
            (chunk,),
        )
        return [(int(first), int(last)) for first, last in rows]
