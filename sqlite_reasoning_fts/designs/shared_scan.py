"""``scan`` on several connections: each reads ranges of the rows, and the matches are joined.

A rank needs the mean length of all rows and the number of rows that hold each phrase, which no
range can tell, so a ranked scan reads on one connection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..query import Query
from ..ranges import Range
from ..reader import Reader
from ..team import Team
from .base import LISTED, Matches
from .scan import Scan


@dataclass(frozen=True)
class SharedScan:
    """Reads every row through ``reasoning_scan``, on as many connections as the team has."""

    team: Team
    name: str = "scan"

    def matches(self, query: Query, scope: str, *, ranked: bool) -> Matches:
        alone = Scan(self.team.main).matches(query, scope, ranked=ranked)
        why = self.team.alone_because
        if why is None and ranked:
            why = "ranks are made on one connection"
        if why is not None:
            return replace(alone, route=f"{alone.route} by one worker: {why}")

        def found(reader: Reader, rows: Range) -> str:
            part = Scan(reader).matches(query, scope, ranked=False)
            text: str = reader.database.value(
                "SELECT json_group_array(json_array(rowid, rank, origin)) "
                f"FROM ({part.sql}) WHERE rowid BETWEEN ? AND ?",
                (*part.parameters, *rows),
            )
            return text[1:-1]

        listed = ",".join(filter(None, self.team.each(found)))
        workers = len(self.team.readers)
        return Matches(LISTED, (f"[{listed}]",), f"{alone.route} by {workers} workers")
