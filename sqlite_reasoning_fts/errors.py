"""What can go wrong, in words for a person and one word for a machine.

Each error has a ``kind`` (the machine's word), a ``message`` that names what and where, a
``hint`` that says what to do, and the exit code of the command line: 1 for a failure
while running, 2 for wrong usage or a file that cannot be used.
"""

from __future__ import annotations


class ReasoningFtsError(Exception):
    """The base of all errors that this package raises on purpose."""

    kind: str = "fault"
    exit_code: int = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"

    def to_dict(self) -> dict[str, str | None]:
        """The ``error`` object of ``--json``."""
        return {"kind": self.kind, "message": self.message, "hint": self.hint}


class UsageError(ReasoningFtsError):
    """The caller asked for something that does not exist or does not fit together."""

    kind = "usage"
    exit_code = 2


class QueryError(ReasoningFtsError):
    """The query is not one."""

    kind = "query"
    exit_code = 2


class LoadError(ReasoningFtsError):
    """The library cannot be loaded into this connection."""

    kind = "load"
    exit_code = 2


class FileError(ReasoningFtsError):
    """The archive's file cannot be used.

    ``kind`` says why: ``not_found``, ``directory``, ``permission``, ``empty``,
    ``not_a_database``, ``encrypted``, ``no_agent``, ``missing_column``, ``no_key``,
    ``changed`` or ``in_use``.
    """

    exit_code = 2

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.args = (kind, message, hint)
        self.kind = kind


class NoRoomError(ReasoningFtsError):
    """The disk has no room: seen before anything was written, or while ``running``."""

    kind = "no_room"
    exit_code = 2

    def __init__(self, message: str, hint: str | None = None, *, running: bool = False) -> None:
        super().__init__(message, hint)
        if running:
            self.exit_code = 1


class FaultError(ReasoningFtsError):
    """A check found a fault, or something failed that should not."""
