"""Options of the suite, and the corpora ready to be measured.

Without options the suite is a test: tiny archives, one run a case, every answer checked.
``make bench`` gives the sizes and turns the clock on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import cache
from .corpus import CORPORA, REFERENCE_NAME, Corpus
from .measured import Measured

TEST_SCALE = 0.002
TESTED = (REFERENCE_NAME, "long rows, many with reasoning", "plain table")
"""The corpora of a run without the clock."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reasoning-fts benchmarks")
    group.addoption(
        "--scale", type=float, default=TEST_SCALE, help="size of the reference corpus; 1 is whole"
    )
    group.addoption(
        "--matrix-scale", type=float, default=TEST_SCALE, help="size of the other corpora"
    )
    group.addoption(
        "--all-corpora", action="store_true", help="every length of row and share of reasoning"
    )
    group.addoption("--seed", type=int, default=0, help="seed of the queries")
    group.addoption("--rounds", type=int, default=7, help="rounds of each case, at most")
    group.addoption("--archives", help="folder in which generated archives are kept")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each case for each corpus, all cases of one corpus together."""
    if "measured" in metafunc.fixturenames:
        every = metafunc.config.getoption("all_corpora")
        mark = metafunc.definition.get_closest_marker("corpora")
        only = mark.args if mark else ()
        chosen = [
            corpus
            for corpus in CORPORA
            if (corpus.name in only if only else every or corpus.name in TESTED)
        ]
        metafunc.parametrize(
            "measured", chosen, ids=[corpus.name for corpus in chosen], indirect=True,
            scope="session",
        )  # fmt: skip


@pytest.fixture(scope="session")
def archives(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where generated archives are kept."""
    given = request.config.getoption("archives")
    if given is None:
        return tmp_path_factory.mktemp("archives")
    Path(given).mkdir(parents=True, exist_ok=True)
    return Path(given)


@pytest.fixture(scope="session")
def measured(request: pytest.FixtureRequest, archives: Path) -> Iterator[Measured]:
    """One corpus after the other."""
    corpus: Corpus = request.param
    option = request.config.getoption
    scale = option("scale" if corpus.name == REFERENCE_NAME else "matrix_scale")
    path = corpus.file(archives, scale)
    cache.warm(path)
    with Measured(corpus, path, option("seed"), option("rounds")) as one:
        yield one


@pytest.fixture
def described(benchmark: Any, measured: Measured) -> Any:
    """The benchmark with what every figure needs beside it."""
    benchmark.extra_info.update(measured.facts(), cache="warm")
    return benchmark
