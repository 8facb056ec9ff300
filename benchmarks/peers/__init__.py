"""The peers, each another way to search the same reasoning. A new one joins by being listed."""

from __future__ import annotations

from .base import LIMIT, Peer
from .kilo import Kilo
from .like import LikeFlag
from .open_webui import OpenWebUI
from .ripgrep import Ripgrep
from .sqlite_utils_fts import SqliteUtils
from .tantivy_index import Tantivy
from .trigram import Trigram

PEERS: tuple[type[Peer], ...] = (
    LikeFlag,
    OpenWebUI,
    Kilo,
    Trigram,
    SqliteUtils,
    Ripgrep,
    Tantivy,
)

__all__ = ["LIMIT", "PEERS", "Peer"]
