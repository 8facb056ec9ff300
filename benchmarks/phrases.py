"""The phrase set: adjacent pairs of words of the archive, spread over document frequencies."""

from __future__ import annotations

import random

from sqlite_reasoning_fts.compare import building
from sqlite_reasoning_fts.compare.workload import WorkloadQuery
from sqlite_reasoning_fts.sampling import sampled_thoughts, some, tokens_of

from .measured import Measured

PHRASES = 32
DRAWN = 8 * PHRASES
"""Pairs whose rows are counted, so that the chosen ones lie evenly between rare and frequent."""


def phrase_set(measured: Measured) -> list[WorkloadQuery]:
    """So many phrases, or as many as a small archive has; the oracle knows their answers."""
    reader = measured.reader
    random_ = random.Random(0)
    texts = tokens_of(sampled_thoughts(reader, random_, DRAWN), reader.options)
    pairs = sorted(
        {
            f'"{words[at]} {words[at + 1]}"'
            for words in texts.values()
            if len(words) > 2
            for at in [random_.randrange(len(words) - 1)]
            if (words[at] + words[at + 1]).isalpha()
        }
    )
    table = measured.bench.table(building.THOUGHT_ALL)
    sql = f"SELECT count(*) FROM {table.sql} WHERE {table.name} MATCH ?"
    rows = {pair: int(reader.database.value(sql, (pair,))) for pair in some(random_, pairs, DRAWN)}
    spread = sorted((pair for pair in rows if rows[pair]), key=lambda pair: (rows[pair], pair))
    step = max(1, len(spread) // PHRASES)
    chosen = [
        WorkloadQuery("phrase", pair, reader.parse(pair, "fts5"))
        for pair in spread[::step][:PHRASES]
    ]
    measured.learn(chosen)
    return chosen
