"""Make the reasoning in SQLite-backed agents' archives searchable, and measure what it costs.

The names below are the public surface. They are looked up on first use, so that importing the
package reads no file, loads no library and imports neither apsw, click nor rich.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .archive import Archive, open
    from .errors import (
        FaultError,
        FileError,
        LoadError,
        NoRoomError,
        QueryError,
        ReasoningFtsError,
        UsageError,
    )
    from .loading import extension_path, load
    from .results import AuditReport, Comparison, Coverage, Hit, SearchResult

_HOMES = {
    "Archive": "archive",
    "open": "archive",
    "load": "loading",
    "extension_path": "loading",
    "AuditReport": "results",
    "Comparison": "results",
    "Coverage": "results",
    "Hit": "results",
    "SearchResult": "results",
    "FaultError": "errors",
    "FileError": "errors",
    "LoadError": "errors",
    "NoRoomError": "errors",
    "QueryError": "errors",
    "ReasoningFtsError": "errors",
    "UsageError": "errors",
}

__all__ = [
    "Archive",
    "AuditReport",
    "Comparison",
    "Coverage",
    "FaultError",
    "FileError",
    "Hit",
    "LoadError",
    "NoRoomError",
    "QueryError",
    "ReasoningFtsError",
    "SearchResult",
    "UsageError",
    "__version__",
    "extension_path",
    "load",
    "open",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
