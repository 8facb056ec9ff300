"""Cuts the text that Python itself ships into the pieces that demo messages are made of.

Purpose: prose, clauses and code in realistic variety without a network and without shipping a
corpus. The source is the standard library that runs this code: docstrings and comment blocks
become prose, the rest becomes code. Where the help topics of `pydoc` are installed they are
prose too. Folders that a distribution may leave out (tests) or that hold tables instead of
text (encodings) are not read, so that most builds of one Python version give the same corpus.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SKIPPED_FOLDERS = frozenset(
    {"__pycache__", "dist-packages", "encodings", "idle_test", "site-packages", "test", "tests"}
)
_DOCSTRING = re.compile(r'[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL)
_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CLAUSE_END = re.compile(r"[,;:]\s+|\s+(?:and|or|but|because|when|which|where|while)\s+")
_NAME = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*\b")

# Lengths in characters. A code block longer than the limit is cut into blocks of that size.
_SENTENCE_LENGTHS = range(25, 301)
_CLAUSE_LENGTHS = range(15, 121)
_CODE_LENGTHS = range(40, 1201)
# Fewer pieces than this would repeat themselves in every row.
_LEAST_PIECES = 200


@dataclass(frozen=True)
class Corpus:
    """Pieces of text, in the order of their files, so that neighbours share a subject.

    sentences: whole sentences of prose, one line each.
    clauses: parts of sentences, without a full stop.
    code: paragraphs of source code, several lines each.
    names: identifiers, sorted, each once.
    """

    sentences: tuple[str, ...]
    clauses: tuple[str, ...]
    code: tuple[str, ...]
    names: tuple[str, ...]


class CorpusError(RuntimeError):
    """The standard library has too little source text (a frozen or a stripped Python)."""


def load_corpus(root: Path | None = None) -> Corpus:
    """Reads the Python files below `root` (default: the running standard library)."""
    folder = Path(sysconfig.get_path("stdlib")) if root is None else root
    prose: list[str] = []
    code: list[str] = []
    for path in _source_files(folder):
        try:
            source = path.read_text(encoding="utf-8", errors="ignore").replace("\0", "")
        except OSError:
            continue
        prose.extend(match.group(2) for match in _DOCSTRING.finditer(source))
        for block in _BLANK_LINES.split(_DOCSTRING.sub("", source)):
            (prose if _is_comment(block) else code).append(block)
    prose.extend(_help_topics())
    sentences = [s for block in prose for s in _sentences(block)]
    clauses = [c for s in sentences for c in _clauses(s)]
    blocks = [b for block in code for b in _code_blocks(block)]
    if min(len(sentences), len(clauses), len(blocks)) < _LEAST_PIECES:
        raise CorpusError(
            f"load_corpus: {folder} holds {len(sentences)} sentences, {len(clauses)} clauses and "
            f"{len(blocks)} code blocks, at least {_LEAST_PIECES} of each are needed"
        )
    names = {name for block in blocks[::3] for name in _NAME.findall(block) if len(name) > 3}
    return Corpus(tuple(sentences), tuple(clauses), tuple(blocks), tuple(sorted(names)))


def _source_files(folder: Path) -> Iterator[Path]:
    """Every Python file below `folder`, in an order that does not depend on the file system."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED_FOLDERS and not name.startswith(("config-", "."))
        )
        yield from (Path(parent, name) for name in sorted(files) if name.endswith(".py"))


def _help_topics() -> list[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:
        return []
    return [block for name in sorted(topics) for block in _BLANK_LINES.split(topics[name])]


def _is_comment(block: str) -> bool:
    lines = block.strip().splitlines()
    return bool(lines) and all(line.lstrip().startswith("#") for line in lines)


def _sentences(block: str) -> Iterator[str]:
    for paragraph in _BLANK_LINES.split(block):
        if ">>>" in paragraph:
            continue
        line = " ".join(part.strip().lstrip("#").strip() for part in paragraph.splitlines())
        for sentence in _SENTENCE_END.split(line):
            if len(sentence) in _SENTENCE_LENGTHS and _reads_as_prose(sentence):
                yield sentence


def _reads_as_prose(sentence: str) -> bool:
    """Four words or more, and hardly anything but letters: no tables, no signatures."""
    letters = sum(map(str.isalpha, sentence))
    return sentence.count(" ") >= 3 and letters >= 0.72 * len(sentence)


def _clauses(sentence: str) -> Iterator[str]:
    for clause in _CLAUSE_END.split(sentence.rstrip(".!?:;")):
        if len(clause) in _CLAUSE_LENGTHS and clause.count(" ") >= 1:
            yield clause[0].lower() + clause[1:] if clause[1].islower() else clause


def _code_blocks(block: str) -> Iterator[str]:
    text = block.strip("\n").rstrip()
    while text:
        head = text[: _CODE_LENGTHS.stop - 1]
        if len(head) < len(text):
            cut = head.rfind("\n")
            head = head[:cut] if cut > 0 else head
        text = text[len(head) :].lstrip("\n")
        if len(head) in _CODE_LENGTHS:
            yield head
