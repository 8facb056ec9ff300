"""How fast the library reads, beside what SQLite needs to read the same rows.

    python benchmarks/engine.py ARCHIVE.db [--rounds 7] [--json]

ARCHIVE is one of Hermes Agent's layout, for example from ``reasoning-fts demo --scale 1``; it is
opened read-only. Each figure is a ratio of two medians that were measured by turns in this run, on
one connection, with a warm file cache and the file mapped into memory for both sides. A ratio is
only printed after the answers have been compared with those of a real FTS5 table.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.adapters import find_adapter
from sqlite_reasoning_fts.compare.workload import RARE_ROWS
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.sampling import some

ROOT = Path(__file__).resolve().parent.parent
MMAP_BYTES = 1 << 34
PHRASES = 32
TERMS = 7


@dataclass(frozen=True)
class Ratio:
    """``median_ms`` against ``limit_ms``; the quartiles are those of the ratios, turn by turn."""

    what: str
    bar: str
    ratio: float
    low: float
    high: float
    median_ms: float
    limit_ms: float


def clock(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return (time.perf_counter() - begun) * 1000.0


def compare(
    what: str, bar: str, rounds: int, pairs: Sequence[tuple[Callable[[], object], ...]]
) -> Ratio:
    """The ratio of the first run's time to the second's, over all pairs, by turns."""
    times: list[tuple[float, float]] = []
    for run, limit in pairs:
        run(), limit()
        times += [(clock(run), clock(limit)) for _ in range(rounds)]
    return ratio(what, bar, times)


def ratio(what: str, bar: str, times: Sequence[tuple[float, float]]) -> Ratio:
    """The median of the ratios of pairs of times, in milliseconds."""
    low, middle, high = statistics.quantiles([a / b for a, b in times], n=4)
    mine, its = (statistics.median(side) for side in zip(*times, strict=True))
    return Ratio(what, bar, middle, low, high, mine, its)


class Engine:
    """An archive with an FTS5 table over its thought, in memory, as the temp."""

    def __init__(self, path: str) -> None:
        self.connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        self.connection.execute("PRAGMA temp_store = memory")
        self.connection.execute(f"PRAGMA mmap_size = {MMAP_BYTES}")
        database = Database(self.connection, path=path)
        self.reader = Reader(database, find_adapter(database, None, None))
        self.spec = self.reader.spec("thought")
        self.connection.execute("CREATE VIRTUAL TABLE temp.o USING fts5(thought, content='')")
        self.connection.execute(
            f"INSERT INTO temp.o(rowid, thought) SELECT rowid, thought FROM {self.reader.source} "
            "WHERE thought IS NOT NULL"
        )
        self.connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(temp, o, row)")
        self.connection.execute(
            "CREATE TEMP TABLE listed AS "
            f"SELECT rowid AS id FROM {self.reader.source} WHERE thought IS NOT NULL"
        )
        self.connection.execute("CREATE UNIQUE INDEX temp.listed_id ON listed(id)")
        self.connection.execute("CREATE TEMP VIEW thinking AS SELECT id AS rowid FROM listed")

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        return self.connection.execute(sql, tuple(values)).fetchall()

    def terms(self, low: int, high: int, count: int) -> list[str]:
        """Terms that stand in so many rows, spread over the vocabulary."""
        rows = self.all(
            "SELECT term FROM temp.v WHERE doc BETWEEN ? AND ? AND length(term) > 3 "
            "AND term GLOB '[a-z]*' ORDER BY term",
            (low, high),
        )
        return [str(row[0]) for row in some(random.Random(0), rows, count)]

    def phrases(self, count: int) -> list[str]:
        """Adjacent pairs of words of the archive, spread over their document frequencies."""
        texts = self.all(
            f"SELECT thought FROM {self.reader.source} WHERE thought IS NOT NULL "
            "AND rowid % 97 = 0 LIMIT 400"
        )
        random_ = random.Random(0)
        found: dict[str, int] = {}
        for (text,) in texts:
            words = [word for word in str(text).split() if word.isalpha() and word.isascii()]
            if len(words) < 3:
                continue
            at = random_.randrange(len(words) - 1)
            phrase = f'"{words[at]} {words[at + 1]}"'
            hits = self.all("SELECT count(*) FROM temp.o WHERE o MATCH ?", (phrase,))[0][0]
            if hits:
                found[phrase] = hits
        by_rows = sorted(found, key=lambda phrase: found[phrase])
        return by_rows[:: max(1, len(by_rows) // count)][:count]

    def scan(self, query: str, *, tail: str = "", listed: bool = False, rank: str = "NULL") -> Any:
        """The newest or the best 20, as a search asks for them."""
        sql = (
            f"WITH m AS MATERIALIZED (SELECT rowid, {rank} AS rank "
            f"FROM reasoning_scan(?, ?, ?, ?, ?, ?){tail}) "
            f"SELECT p.rowid, m.rank FROM m CROSS JOIN {self.reader.source} AS p "
            f"ON p.rowid = m.rowid "
            f"ORDER BY {'m.rank, p.key' if rank == 'rank' else 'p.created_at DESC, p.key DESC'} "
            "LIMIT 20"
        )
        reader = self.reader
        values = (query, reader.source, self.spec, reader.thought_number, reader.stored("thought"),
                  "temp.thinking" if listed else None)  # fmt: skip
        return self.all(sql, values)

    def fetch(self) -> Any:
        """Reads the columns that the thought is made of, of every row, and nothing else."""
        columns = self.reader.projection.thought_stored
        condition = " OR ".join(f"{column} = x''" for column in columns)
        return self.all(f"SELECT count(*) FROM {self.reader.projection.source} WHERE {condition}")

    def like(self, term: str) -> Any:
        """The condition that is proposed for a flag, over content and reasoning."""
        peer = self.reader.adapter.like
        condition = f"(({peer.said}) OR ({peer.thought})) AND {peer.visible}"
        return self.all(
            f"SELECT {peer.rowid} FROM {peer.source} WHERE {condition} "
            f"ORDER BY {peer.newest_first} LIMIT 20",
            [f"%{term}%"] * condition.count("?"),
        )

    def ranked(self, function: str, term: str) -> Any:
        """All ranks of a term in the agent's own index, by one ranking function."""
        index = self.reader.adapter.own_index
        assert index is not None
        return self.all(
            f"WITH r AS MATERIALIZED (SELECT {function.format(index.table)} AS rank "
            f"FROM {index.table}(?)) SELECT count(*), total(rank) FROM r",
            (term,),
        )

    def prose(self) -> bytes:
        """About 8 MB of reasoning."""
        rows = self.all(
            f"SELECT thought FROM {self.reader.source} WHERE thought IS NOT NULL LIMIT 5000"
        )
        return "\n".join(str(row[0]) for row in rows).encode()

    def check(self, query: str) -> None:
        """Raises where a scan and FTS5 disagree, in any of the ways that are timed."""
        sql = "SELECT rowid FROM temp.o WHERE o MATCH ?"
        expected = {row[0] for row in self.all(sql, (query,))}
        reader = self.reader
        base = (query, reader.source, self.spec, reader.thought_number)
        for stored in (None, reader.stored("thought")):
            for listed in (None, "temp.thinking"):
                for columns in ("rowid", "rowid, rank"):
                    rows = self.all(
                        f"SELECT {columns} FROM reasoning_scan(?, ?, ?, ?, ?, ?)",
                        (*base, stored, listed),
                    )
                    if {row[0] for row in rows} != expected:
                        raise SystemExit(f"wrong answer to {query}: {len(rows)} of {len(expected)}")


def tokenizer(prose: bytes, rounds: int) -> Ratio:
    """FTS5's unicode61 against the library's, both called directly from C."""
    with tempfile.TemporaryDirectory() as folder:
        text, program = Path(folder) / "prose.txt", Path(folder) / "tokenizer"
        text.write_bytes(prose)
        sources = [ROOT / "benchmarks" / "tokenizer.c"]
        sources += [ROOT / "csrc" / "pure" / name for name in ("unicode61.c", "memory.c")]
        include = [f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'csrc' / 'vendor' / 'sqlite'}"]
        compiler = os.environ.get("CC", "gcc")
        command = [compiler, "-std=c11", "-O2", *include, *sources, "-o", program]
        subprocess.run([*command, "-l:libsqlite3.so.0"], check=True)
        done = subprocess.run(
            [program, text, str(rounds)], check=True, capture_output=True, text=True
        )
    pairs = [line.split() for line in done.stdout.splitlines()]
    times = [(float(theirs) * 1000, float(own) * 1000) for theirs, own in pairs]
    return ratio("FTS5's unicode61 / the library's, prose", ">= 3", times)


def two_connections(path: str, terms: Sequence[str], rounds: int) -> Ratio:
    """A search on one connection against the same on two, neither mapped into memory."""
    with rf.open(path) as archive:

        def search(term: str, workers: int) -> object:
            return archive.search(
                f'"{term}"', scope="thought", order="newest", design="scan", workers=workers
            ).hits

        for term in terms:
            if search(term, 1) != search(term, 2):
                raise SystemExit(f"two connections answer {term} otherwise than one")
        return compare(
            "scan on one connection / on two", ">= 1.4", rounds,
            [(lambda t=term: search(t, 1), lambda t=term: search(t, 2)) for term in terms],
        )  # fmt: skip


def measure(path: str, rounds: int) -> list[Ratio]:
    engine = Engine(path)
    rare = engine.terms(1, RARE_ROWS, TERMS)
    thinking = engine.all("SELECT count(*) FROM listed")[0][0]
    common = engine.terms(thinking // 10, thinking // 3, TERMS)
    phrases = engine.phrases(PHRASES)
    for query in (*rare, *common[:2], *phrases[:: max(1, len(phrases) // 8)]):
        engine.check(query)
    few = max(2, rounds // 3)

    def matched(term: str) -> object:
        return engine.scan(term, rank="rank")

    return [
        compare("scan, one rare term, newest 20 / fetch", "<= 1.2", rounds,
                [(lambda t=term: engine.scan(t), engine.fetch) for term in rare]),
        compare("scan, a phrase, newest 20 / fetch", "<= 1.4", few,
                [(lambda t=phrase: engine.scan(t), engine.fetch) for phrase in phrases]),
        compare("the proposed LIKE condition / scan, one rare term", ">= 5", few,
                [(lambda t=term: engine.like(t), lambda t=term: engine.scan(t))
                 for term in rare[:3]]),
        compare("scan / scan over a list of the rows with thought", ">= 1.3", rounds,
                [(lambda t=term: engine.scan(t), lambda t=term: engine.scan(t, listed=True))
                 for term in rare]),
        compare("scan, ranked, totals known / scan, one rare term", "<= 1.5", rounds,
                [(lambda t=term: matched(t), lambda t=term: engine.scan(t)) for term in rare]),
        compare("scan, ranked, totals known / scan, one common term", "<= 1.5", few,
                [(lambda t=term: matched(t), lambda t=term: engine.scan(t)) for term in common]),
        compare("reasoning_bm25 / bm25, one common term", "<= 1.2", rounds,
                [(lambda t=term: engine.ranked("reasoning_bm25({}, '0')", t),
                  lambda t=term: engine.ranked("bm25({})", t)) for term in common[:3]]),
        tokenizer(engine.prose(), 3 * rounds),
        two_connections(path, rare[:3], rounds),
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("archive")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    ratios = measure(chosen.archive, chosen.rounds)
    if chosen.json:
        json.dump([asdict(ratio) for ratio in ratios], sys.stdout, indent=2)
        return
    for ratio in ratios:
        print(f"{ratio.what}: {ratio.ratio:.2f} ({ratio.low:.2f}-{ratio.high:.2f}), bar "
              f"{ratio.bar}; {ratio.median_ms:.0f} ms / {ratio.limit_ms:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
