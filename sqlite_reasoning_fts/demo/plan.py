"""Plans the demo archive: which rows exist, who wrote them, when, and how long they are.

No text is made here. The plan fixes the proportions, those of a real archive unless others are
asked for.

A session is a row of turns; a turn is a user's message, some calls of tools with their results,
and an answer. Sessions overlap in time, and rows are numbered in the order of time. Lengths are
log-normal: most rows are short, a few hold most of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from random import Random


@dataclass(frozen=True)
class Proportions:
    """What an archive holds at scale 1; characters are code points."""

    rows: int = 289_433
    rows_with_reasoning: int = 61_043
    turns_reasoning_only: int = 22_454
    reasoning_characters: int = 95_100_000
    indexed_characters: int = 307_400_000

    def with_shape(self, *, share: float, thought_length: float) -> Proportions:
        """As many characters in rows of another mean length, of which another share thinks.

        What is said grows with what is thought, so that rows are longer or shorter as a whole.
        ``share`` beyond what the assistant writes (about two fifths of the rows) is cut there.
        """
        stretch = thought_length * self.rows_with_reasoning / self.reasoning_characters
        rows = round(self.rows / stretch)
        thinking = round(rows * share)
        return Proportions(
            rows=rows,
            rows_with_reasoning=thinking,
            turns_reasoning_only=round(
                thinking * self.turns_reasoning_only / self.rows_with_reasoning
            ),
            reasoning_characters=round(thinking * thought_length),
            indexed_characters=self.indexed_characters,
        )


REFERENCE = Proportions()

# 2026-01-05 00:00 UTC; fixed, so that a seed names one archive. Unix seconds.
_FIRST_DAY = 1_767_571_200.0
_DAYS_AT_SCALE_1 = 240.0
_LONGEST_ROW = 2_000_000
_LEAST_THOUGHT = 12


class Kind(IntEnum):
    """What a row is: its role, and for the assistant whether it calls tools."""

    USER = 0
    CALL = 1
    ANSWER = 2
    TOOL = 3


# Mean length in characters (only the proportions matter) and sigma of its logarithm.
_SAID_LENGTHS = {
    Kind.USER: (340.0, 1.0),
    Kind.CALL: (430.0, 0.9),
    Kind.ANSWER: (950.0, 0.9),
    Kind.TOOL: (1720.0, 1.7),
}
_THOUGHT_LENGTHS = (1558.0, 1.25)


@dataclass(slots=True)
class Row:
    """One planned message; the index of its session, lengths in characters.

    calls: for CALL the number of tools called; for TOOL the position of its call.
    said: what the row should add to the agent's index, names of tools included.
    thought: characters of reasoning, 0 for none.
    """

    session: int
    kind: Kind
    time: float
    calls: int = 0
    said: int = 0
    thought: int = 0
    silent: bool = False
    encrypted: bool = False
    active: int = 1
    compacted: int = 0


@dataclass(slots=True)
class Session:
    """One planned session. An orphaned one leaves its messages and no row of its own."""

    index: int
    started: float
    parent: int | None = None
    orphaned: bool = False
    rewinds: int = 0
    ended: float = 0.0
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """The rows in the order of their ids, and the sessions in the order of their start."""

    rows: list[Row]
    sessions: list[Session]


def make_plan(scale: float, rng: Random, proportions: Proportions = REFERENCE) -> Plan:
    """Plans an archive of `scale` times the rows and characters of the proportions."""
    total = max(1, round(proportions.rows * scale))
    sessions = _make_sessions(total, scale, rng)
    _hide_rows(sessions, rng)
    rows = sorted((row for s in sessions for row in s.rows), key=lambda row: row.time)
    _place_thoughts(rows, scale, rng, proportions)
    _set_lengths(rows, scale, rng, proportions)
    return Plan(rows, sessions)


def _make_sessions(total: int, scale: float, rng: Random) -> list[Session]:
    span = max(1.0, _DAYS_AT_SCALE_1 * scale) * 86_400.0
    sessions: list[Session] = []
    missing = total
    while missing > 0:
        session = Session(len(sessions), _FIRST_DAY + rng.random() * span)
        sessions.append(session)
        time = session.started
        for _ in range(min(60, 1 + int(rng.lognormvariate(0.8, 0.8)))):
            time = _add_turn(session, time, rng)
        del session.rows[missing:]
        missing -= len(session.rows)
        session.ended = session.rows[-1].time + rng.uniform(1.0, 600.0)
    sessions.sort(key=lambda session: session.started)
    for index, session in enumerate(sessions):
        session.index = index
        for row in session.rows:
            row.session = index
        if index and rng.random() < 0.12:
            session.parent = rng.randrange(max(0, index - 40), index)
    # A few sessions were deleted without their messages; an archive of any size has one.
    for index in rng.sample(range(len(sessions)), (len(sessions) + 380) // 400):
        sessions[index].orphaned = True
    for session in sessions:
        if session.parent is not None and sessions[session.parent].orphaned:
            session.parent = None
    return sessions


def _add_turn(session: Session, time: float, rng: Random) -> float:
    """Appends a turn that starts after `time`; returns the time of its last row."""
    rows, index = session.rows, session.index
    time += rng.lognormvariate(4.2, 1.0)
    rows.append(Row(index, Kind.USER, time))
    while rng.random() < 0.77:
        time += rng.lognormvariate(2.0, 0.7)
        calls = 1 if rng.random() < 0.78 else rng.randint(2, 4)
        rows.append(Row(index, Kind.CALL, time, calls))
        for position in range(calls):
            # Results of parallel calls are often written in one go, with one time.
            time += 0.0 if position and rng.random() < 0.6 else rng.lognormvariate(0.0, 1.2)
            rows.append(Row(index, Kind.TOOL, time, position))
    time += rng.lognormvariate(2.0, 0.7)
    rows.append(Row(index, Kind.ANSWER, time))
    return time


def _hide_rows(sessions: list[Session], rng: Random) -> None:
    """Some sessions were rewound (hidden rows), some compacted (archived, still searched)."""
    for session in sessions:
        chance = rng.random()
        starts = [at for at, row in enumerate(session.rows) if row.kind is Kind.USER]
        if chance < 0.025:
            for row in session.rows[starts[-1] :]:
                row.active = 0
            session.rewinds = 1
        elif chance < 0.065 and len(starts) > 1:
            for row in session.rows[: starts[len(starts) // 2]]:
                row.active, row.compacted = 0, 1


def _place_thoughts(rows: list[Row], scale: float, rng: Random, proportions: Proportions) -> None:
    """Chooses the rows with reasoning, and among them the turns that say nothing."""
    # Models differ: most of a session's turns think, or hardly any do.
    thinks: dict[int, float] = {}
    scored: list[tuple[float, int]] = []
    for at, row in enumerate(rows):
        if row.kind in (Kind.CALL, Kind.ANSWER):
            bias = thinks.get(row.session)
            if bias is None:
                bias = thinks[row.session] = 1.2 if rng.random() < 0.5 else 0.0
            scored.append((bias + rng.random(), at))
    scored.sort(reverse=True)
    count = min(len(scored), round(proportions.rows_with_reasoning * scale))
    chosen = [at for _, at in scored[:count]]
    for at in chosen:
        rows[at].thought = _LEAST_THOUGHT
    # A silent turn mostly goes on to call a tool; a few were cut off while thinking.
    order = sorted(
        chosen, key=lambda at: rng.random() + (0.96 if rows[at].kind is Kind.ANSWER else 0.0)
    )
    for at in order[: min(count, round(proportions.turns_reasoning_only * scale))]:
        rows[at].silent = True
    for _, at in scored[count:]:
        rows[at].encrypted = rng.random() < 0.02


def _set_lengths(rows: list[Row], scale: float, rng: Random, proportions: Proportions) -> None:
    thinking = [row for row in rows if row.thought]
    mean, sigma = _THOUGHT_LENGTHS
    drawn = [_log_normal(mean, sigma, rng) for _ in thinking]
    total = round(proportions.reasoning_characters * scale)
    for row, length in zip(thinking, _fit(drawn, total, _LEAST_THOUGHT), strict=True):
        row.thought = length
    drawn = [_log_normal(*_SAID_LENGTHS[row.kind], rng) for row in rows]
    total = round(proportions.indexed_characters * scale)
    for row, length in zip(rows, _fit(drawn, total, 2), strict=True):
        row.said = length


def _log_normal(mean: float, sigma: float, rng: Random) -> float:
    """One draw of a log-normal distribution with this mean (the median is lower)."""
    return mean * rng.lognormvariate(-0.5 * sigma * sigma, sigma)


def _fit(drawn: list[float], total: int, least: int) -> list[int]:
    """Scales the lengths so that they sum to `total`, within the bounds of a row."""
    factor = 1.0
    for _ in range(4):
        fitted = sum(min(_LONGEST_ROW, max(least, x * factor)) for x in drawn)
        factor *= total / fitted if fitted else 1.0
    return [round(min(_LONGEST_ROW, max(least, x * factor))) for x in drawn]
