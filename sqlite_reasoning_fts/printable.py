"""Text from an archive on a terminal: it must not move the cursor, set colours or ring a bell."""

from __future__ import annotations

CONTROLS = {
    code: " " if chr(code) in "\t\n\r" else "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0))
}


def printable(text: object) -> str:
    """A text on one line, its control characters replaced."""
    return str(text).translate(CONTROLS)
