"""What a controller is asked and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.state.report import Label
from gbb.graph import Graph


@dataclass(frozen=True, eq=False)
class Trial:
    """An allocation to play, until its rewards are told.

    Attributes
    ----------
    id
        The trial's number, counted from 1.
    round
        The round it was asked in: one more than the rounds told by then.
    arms
        An arm index per agent, in agent order.
    context
        What is known before its round, as it is written; None where there are no contexts.
    """

    id: int
    round: int
    arms: IntArray
    graph: Graph
    arm_names: tuple[str, ...] | None
    context: Any = None

    @cached_property
    def allocation(self) -> dict[Label, Label]:
        """The arm of every agent, by their names (by their numbers where they have none)."""
        return name_arms(self.graph, self.arms, self.arm_names)

    def __repr__(self) -> str:
        return f"Trial(id={self.id}, round={self.round}, n={self.graph.n})"


@dataclass(frozen=True, eq=False)
class Prediction:
    """The expected global reward of an allocation.

    Attributes
    ----------
    reward
        What the estimate says, within what the declared bounds allow.
    low, high
        The interval around it, at the policy's confidence.
    caveat
        Why it is unreliable: rewards were told that the declared bounds rule out, or nothing is known
        of the bounds yet.
    """

    reward: float
    low: float
    high: float
    caveat: str | None = None


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The best allocation by what is known.

    Attributes
    ----------
    allocation
        The arm of every agent, by name.
    arms
        The same as arm indices in agent order.
    reward, low, high
        Its predicted global reward and the interval around it.
    upper_bound
        No allowed allocation pays more than this, at the policy's confidence; at most m L S
        (with weights, the sum of ``|w|`` times L S).
    proven
        Whether no allocation is better for the estimate.
    caveat
        Why it is unreliable: rewards were told that the declared bounds rule out, or nothing is known
        of the bounds yet.
    context
        What is known before the round, as it is written; None where there are no contexts.
    """

    allocation: dict[Label, Label]
    arms: IntArray
    reward: float
    low: float
    high: float
    upper_bound: float
    proven: bool
    caveat: str | None = None
    context: Any = None

    @property
    def gap(self) -> float:
        """How much more the best allocation might pay: ``upper_bound - reward``."""
        return self.upper_bound - self.reward


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is known of the matrix of one edge type.

    Attributes
    ----------
    edge_type
        The matrix's number; all edges have type 0 unless the problem says otherwise.
    M_hat, M_width
        The estimate of M* and the half-widths of its entries' intervals (d x d). Of its symmetric part,
        ``(M* + M*') / 2``, where rewards are told per link: nothing else shows, and nothing else counts.
    table, table_width
        The estimated reward of an edge by its two arms, and the half-widths (K x K); per link, half of
        what the link pays.
    N, Y
        How often each pair of arms was seen, and the sum of its rewards (K x K); with weights, sums
        of w^2 and of w times the reward. Per link, both directions count, each with half of its reward.
        None where rewards are seen in other sums over edges.
    caveat
        Why it is unreliable: rewards were told that the declared bounds rule out, or nothing is known
        of the bounds yet.
    matrix
        Whose matrix it is where there are contexts: that of a regime, a number, a type or a feature.
    """

    edge_type: int
    M_hat: FloatArray
    M_width: FloatArray
    table: FloatArray
    table_width: FloatArray
    N: FloatArray | None
    Y: FloatArray | None
    caveat: str | None = None
    matrix: str | None = None


@dataclass(frozen=True)
class Entry:
    """One event of the history.

    Attributes
    ----------
    seq
        Its place in the log, counted from 1.
    kind
        ``create``, ``ask``, ``tell``, ``tables``, ``fail``, ``abandon``, ``timeout``, ``retract``,
        ``attach``, ``warning``, ``alert``, ``forbid``, ``pin``, ``allow``, ``policy``, ``graph``,
        ``discount`` or ``rename``.
    time
        When it was written (UTC).
    trial_id
        The trial it is about, if any.
    content
        What happened, by names.
    by
        Who wrote it, where a service says so; None where it was written in process.
    """

    seq: int
    kind: str
    time: datetime
    trial_id: int | None
    content: dict[str, Any]
    by: str | None = None


@dataclass(frozen=True)
class Alert:
    """Something that somebody should look at.

    Attributes
    ----------
    kind
        ``drift`` (recent rounds do not pay what those before them say), ``misfit`` (the pairwise model
        is not good enough to act on), ``bounds`` (recent rewards outside the declared bounds),
        ``caveat`` (why predictions are unreliable) or ``stale`` (trials that wait for too long).
    severity
        ``critical`` or ``warning``.
    since
        When it began (UTC).
    text
        What it is about, as it was when it began.
    """

    kind: str
    severity: str
    since: datetime
    text: str


class RoundReward(NamedTuple):
    """A round that was told.

    Attributes
    ----------
    seq
        The event that tells it.
    time
        When it was told (UTC).
    round
        Which of the rounds that count it is, from 1 on.
    trial
        Its trial; None if it was attached.
    reward
        The sum of the rewards that were told.
    observed, possible
        How many rewards were told, and how many there can be.
    """

    seq: int
    time: datetime
    round: int
    trial: int | None
    reward: float
    observed: int
    possible: int


@dataclass(frozen=True)
class Check:
    """What was found in order.

    Attributes
    ----------
    events
        How many events were read, each with its seal, and folded anew.
    rounds
        How many rounds they tell.
    snapshot
        The event of the snapshot, which says what the log says; None when there is none to read.
    pages
        Whether the database looked at all of its pages; a PostgreSQL server looks after its own.
    """

    events: int
    rounds: int
    snapshot: int | None
    pages: bool


def name_arms(
    graph: Graph, arms: IntArray, arm_names: tuple[str, ...] | None
) -> dict[Label, Label]:
    """An allocation by names, without the agents whose arm is -1: nobody knows it."""
    names: Sequence[Label] = range(int(arms.max(initial=0)) + 1) if arm_names is None else arm_names
    labels, played = graph.labels, arms.tolist()
    return {labels[i]: names[arm] for i, arm in enumerate(played) if arm >= 0}
