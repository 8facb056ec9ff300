"""The designs, by name: each a way to make the reasoning of an archive searchable."""

from __future__ import annotations

from .base import Design, IndexTable, Matches
from .column import Column
from .full import Full
from .like import Like
from .scan import Scan
from .shared_scan import SharedScan

NAMES = ("like", "scan", "full", "column")
"""In the order in which they are compared: nothing stored first."""

STORED = ("full", "column")
"""Those that need an index."""

__all__ = [
    "NAMES",
    "STORED",
    "Column",
    "Design",
    "Full",
    "IndexTable",
    "Like",
    "Matches",
    "Scan",
    "SharedScan",
]
