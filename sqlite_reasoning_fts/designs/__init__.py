"""The designs, by name: each a way to make the reasoning of an archive searchable."""

from __future__ import annotations

from .base import Design, IndexTable, Matches
from .candidates import Blocks, Terms
from .column import Column
from .full import Full
from .like import Like
from .rechecked import Rechecked
from .scan import Scan
from .shared_scan import SharedScan

NAMES = ("like", "scan", "blocks", "terms", "full", "column")
"""In the order in which they are compared: nothing stored first, then the smallest index."""

BLOCK_ROWS = {"blocks": 16, "blocks-64": 64, "blocks-256": 256}
"""How many rows with thought are a document of each variety of ``blocks``."""

STORED = (*BLOCK_ROWS, "terms", "full", "column")
"""Those that need an index."""

EVERY_NAME = tuple(dict.fromkeys((*NAMES, *STORED)))
"""What may be asked for by name."""

__all__ = [
    "BLOCK_ROWS",
    "EVERY_NAME",
    "NAMES",
    "STORED",
    "Blocks",
    "Column",
    "Design",
    "Full",
    "IndexTable",
    "Like",
    "Matches",
    "Rechecked",
    "Scan",
    "SharedScan",
    "Terms",
]
