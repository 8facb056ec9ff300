"""tantivy through its Python package: the outer limit of what an index can be.

Its default tokenizer drops words of more than 40 letters and keeps accents, so where a query has
such a word the truth, which is FTS5's, would differ; the queries of a workload have none.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlite_reasoning_fts.compare.workload import WorkloadQuery

from ..measured import Measured
from .base import LIMIT, Peer, file_bytes, words


class Tantivy(Peer):
    name = "tantivy"

    def __init__(self, measured: Measured, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        self._measured = measured
        messages = measured.texts.messages
        self._rowids = [message.rowid for message in messages]
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("thought", stored=False)
        builder.add_integer_field("newest", stored=True, fast=True)
        self._schema = builder.build()
        place = folder / "tantivy"
        place.mkdir()
        self._index = tantivy.Index(self._schema, path=str(place))
        writer = self._index.writer(heap_size=128 << 20, num_threads=1)
        for number, message in enumerate(messages):
            writer.add_document(
                tantivy.Document(thought=message.thought, newest=len(messages) - number)
            )
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._count = len(messages)
        self.bytes = file_bytes(*place.iterdir())

    @staticmethod
    def missing(measured: Measured) -> str | None:
        return None if importlib.util.find_spec("tantivy") else "tantivy is not installed"

    def ask(self, item: WorkloadQuery, limit: int | None = LIMIT) -> Sequence[Any]:
        query_type = self._tantivy.Query
        asked = words(item)
        if len(asked) == 1:
            query = query_type.term_query(self._schema, "thought", asked[0])
        else:
            query = query_type.phrase_query(self._schema, "thought", list(asked))
        found = self._searcher.search(
            query, limit or self._count, count=False, order_by_field="newest"
        )
        return [self._rowids[self._count - place] for place, _ in found.hits]

    def truth(self, item: WorkloadQuery) -> Sequence[Any]:
        return self._measured.rowids(self._measured.answers.newest[item.text, "thought"])
