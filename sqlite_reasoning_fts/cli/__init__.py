"""The command line, ``reasoning-fts``."""

from __future__ import annotations

import sys

from .app import run


def main() -> None:
    """The entry point: runs the command line and exits with its code."""
    sys.exit(run())
