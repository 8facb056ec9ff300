"""What an adapter knows of one agent's schema."""

from __future__ import annotations

from dataclasses import dataclass

from ..database import quote_text
from ..projection import Projection


@dataclass(frozen=True)
class OwnIndex:
    """The FTS5 table that the agent's default search reads.

    Its columns are the projection's said columns, its rowids the projection's. ``options`` are
    the FTS5 options that decide matches and ranks (``tokenize``, ``prefix``), as they stand in
    the agent's own statement; ``inline`` says that the table keeps a copy of the text.
    """

    table: str
    options: tuple[str, ...] = ()
    inline: bool = True


@dataclass(frozen=True)
class RouteTemplate:
    """One way in which the agent searches: SQL that counts the rows found for a token.

    ``forms`` says for each ``?`` how the token stands in it: ``match`` (an FTS5 string), ``like``
    (with LIKE's wildcards around it, escaped by a backslash).
    """

    name: str
    sql: str
    forms: tuple[str, ...]

    def parameters(self, token: str) -> tuple[str, ...]:
        """The values to bind."""
        return tuple(_form(form, token) for form in self.forms)

    def pasted(self, token: str) -> str:
        """The statement with its values in it, ready for a shell."""
        pieces = self.sql.split("?")
        values = [quote_text(value) for value in self.parameters(token)]
        text = pieces[0]
        for value, piece in zip(values, pieces[1:], strict=True):
            text += value + piece
        return " ".join(text.split()) + ";"


def _form(form: str, token: str) -> str:
    if form == "match":
        return '"' + token.replace('"', '""') + '"'
    return f"%{escape_like(token)}%"


def escape_like(term: str) -> str:
    """A term in which LIKE's wildcards stand for themselves (``ESCAPE '\\'``)."""
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


@dataclass(frozen=True)
class LikePeer:
    """The flag as it is proposed to the agent: LIKE over the raw columns.

    ``said`` and ``thought`` are conditions for one term, every ``?`` of which takes the pattern;
    ``source`` is the FROM clause with its joins, ``visible`` the rows that are shown.
    """

    source: str
    rowid: str
    said: str
    thought: str
    visible: str
    newest_first: str


@dataclass(frozen=True)
class Adapter:
    """One agent's schema, as found in one file.

    ``default_search`` selects the rowids that the agent's default search finds for one ``?``, an
    FTS5 query. ``setup`` makes the temporary objects that the projection needs, ``teardown`` drops
    them; ``notes`` say what the file lacks and what that means for the answers.
    """

    agent: str
    schema_version: str | None
    projection: Projection
    own_index: OwnIndex | None
    routes: tuple[RouteTemplate, ...]
    like: LikePeer
    default_search: str | None
    thought_columns: tuple[str, ...]
    setup: tuple[str, ...] = ()
    teardown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
