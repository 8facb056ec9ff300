"""How long a query takes, warm, by kind, design, order, scope, length of row and share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlite_reasoning_fts.compare.workload import KINDS
from sqlite_reasoning_fts.designs import NAMES

from .corpus import REFERENCE_NAME
from .measured import Measured, WrongAnswer
from .peers import LIMIT, PEERS, Peer
from .turns import by_turns

DESIGNS = tuple(name for name in NAMES if name != "like")
"""``like`` is among the peers: its answers are not the index's."""


by_design = pytest.mark.parametrize("design", DESIGNS)
by_kind = pytest.mark.parametrize("kind", KINDS)
by_order = pytest.mark.parametrize("order", ["newest", "rank"])


@by_order
@by_kind
@by_design
def test_thought(described: Any, measured: Measured, design: str, kind: str, order: str) -> None:
    query(described, measured, design, kind, order, "thought")


@by_order
@by_kind
@by_design
@pytest.mark.corpora(REFERENCE_NAME)
def test_all(described: Any, measured: Measured, design: str, kind: str, order: str) -> None:
    query(described, measured, design, kind, order, "all")


def query(
    described: Any, measured: Measured, design: str, kind: str, order: str, scope: str
) -> None:
    """Asks all queries of a kind, one after the other, beside a read of the reasoning."""
    items = measured.queries(kind)
    if not items:
        pytest.skip(f"the corpus is too small to have a query of the kind {kind}")
    chosen = measured.design(design)
    for item in items:
        measured.check(chosen, item, scope, order)

    def ask() -> None:
        for item in items:
            measured.ask(chosen, item, scope, order)

    described.extra_info.update(
        table="latency", route=design, kind=kind, order=order, scope=scope, queries=len(items),
        hits=[len(measured.answers.newest[item.text, scope]) for item in items],
    )  # fmt: skip
    by_turns(described, ask, {"fetch": measured.fetch}, rounds=measured.rounds)


@pytest.fixture(scope="session")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Peer]]:
    """Those that are set up, by corpus and name: one at a time, for they hold much text."""
    ready: dict[tuple[str, str], Peer] = {}
    yield ready
    for peer in ready.values():
        peer.close()


@pytest.fixture
def peer(
    request: pytest.FixtureRequest,
    measured: Measured,
    peers: dict[tuple[str, str], Peer],
    tmp_path_factory: pytest.TempPathFactory,
) -> Peer:
    kind = next(peer for peer in PEERS if peer.name == request.param)
    why = kind.missing(measured)
    if why is not None:
        pytest.skip(why)
    name = measured.corpus.name, kind.name
    if name not in peers:
        for other in list(peers):
            peers.pop(other).close()
        folder: Path = tmp_path_factory.mktemp("peer")
        peers[name] = kind(measured, folder)
    return peers[name]


@pytest.mark.parametrize(
    ("peer", "kind"),
    [(peer.name, kind) for peer in PEERS for kind in KINDS if kind in peer.kinds],
    indirect=["peer"],
)
def test_peer(described: Any, measured: Measured, peer: Peer, kind: str) -> None:
    items = [item for item in measured.queries(kind) if peer.understands(item)]
    if not items:
        pytest.skip(f"{peer.name} understands no query of the kind {kind} of this corpus")
    for item in items:
        check_peer(peer, item)

    def ask() -> None:
        for item in items:
            peer.ask(item)

    described.extra_info.update(
        table="latency", route=peer.name, kind=kind, order="newest", scope="thought",
        queries=len(items), hits=[len(peer.truth(item)) for item in items],
        bytes=peer.bytes,
    )  # fmt: skip
    by_turns(described, ask, {"fetch": measured.fetch}, rounds=measured.rounds)


def check_peer(peer: Peer, item: Any) -> None:
    """A peer answers as its own definition says: the newest rows, and all of them."""
    expected = list(peer.truth(item))
    first, whole = list(peer.ask(item)), list(peer.ask(item, limit=None))
    if whole != expected or first != expected[:LIMIT]:
        raise WrongAnswer(
            f"{peer.name} answers {item.text} wrongly: {len(expected)} rows expected, {len(whole)} "
            f"found; the first ones {expected[:5]} expected, {first[:5]} found"
        )
