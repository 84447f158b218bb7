"""What a controller is asked and answers: a model of the request, and a class of the response."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import Field, PrivateAttr

from gbb._support.checks import FloatArray, IntArray
from gbb.controller import types as t
from gbb.controller.graph_spec import GraphAndCut, cut_setting
from gbb.controller.state.report import Label
from gbb.diagnostics import Diagnosis
from gbb.graph import Graph

R = TypeVar("R")


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it: the number, the round and the allocation by names."""
        about = {"trial": self.id, "round": self.round, **_context(self.context)}
        return {**about, "allocation": self.allocation}

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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, the allocation by names."""
        said = {name: getattr(self, name) for name in ("allocation", "reward", "low", "high")}
        rest = {name: getattr(self, name) for name in ("upper_bound", "gap", "proven", "caveat")}
        return {**_context(self.context), **said, **rest}


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, arrays as lists of rows."""
        arrays = {name: getattr(self, name) for name in ESTIMATED}
        rows = {name: None if value is None else value.tolist() for name, value in arrays.items()}
        matrix = {} if self.matrix is None else {"matrix": self.matrix}
        return {"edge_type": self.edge_type, **matrix, **rows, "caveat": self.caveat}


@dataclass(frozen=True)
class Entry:
    """One event of the history.

    Attributes
    ----------
    seq
        Its place in the log, counted from 1.
    kind
        ``create``, ``ask``, ``tell``, ``tables``, ``fail``, ``abandon``, ``timeout``, ``retract``,
        ``attach``, ``warning``, ``alert``, ``forbid``, ``pin``, ``allow``, ``policy``, ``graph`` or
        ``discount``.
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        by = {} if self.by is None else {"by": self.by}
        about = {"seq": self.seq, "time": self.time.isoformat(), "kind": self.kind}
        return {**about, "trial": self.trial_id, **by, "content": self.content}


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "since": self.since.isoformat()}


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


@dataclass(frozen=True)
class Imported:
    """What was understood of a table of rounds, and what of it is new.

    Attributes
    ----------
    rounds
        How many rounds have a reward.
    new
        How many of them were not there yet.
    rewards, missing
        How many rewards there are, and how many cells for one are blank.
    agents
        How many agents have an arm in some round.
    arms
        How many different arms were played.
    unknown
        How many arms of the rounds nobody knows: no reward depends on them.
    empty
        How many rounds have no reward at all; they are left out.
    first
        The first round: its key, arms and rewards by name, and its context if it has one.
    """

    rounds: int
    new: int
    rewards: int
    missing: int
    agents: int
    arms: int
    unknown: int
    empty: int
    first: dict[str, Any]


@dataclass(frozen=True)
class Progress:
    """Where a controller stands after a trial was closed or a round attached.

    Attributes
    ----------
    rounds, open
        How many rounds were told, and how many trials wait for their rewards.
    trial
        The trial it was about, if any.
    """

    rounds: int
    open: int
    trial: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        trial = {} if self.trial is None else {"trial": self.trial}
        return {**trial, "rounds": self.rounds, "open": self.open}


ESTIMATED = ("M_hat", "M_width", "table", "table_width", "N", "Y")


def _context(context: Any) -> dict[str, Any]:
    """Return what is known before a round, if there are contexts."""
    return {} if context is None else {"context": context}


def name_arms(
    graph: Graph, arms: IntArray, arm_names: tuple[str, ...] | None
) -> dict[Label, Label]:
    """An allocation by names, without the agents whose arm is -1: nobody knows it."""
    names: Sequence[Label] = range(int(arms.max(initial=0)) + 1) if arm_names is None else arm_names
    labels, played = graph.labels, arms.tolist()
    return {labels[i]: names[arm] for i, arm in enumerate(played) if arm >= 0}


class Executed(NamedTuple, Generic[R]):
    """What came of a request.

    Attributes
    ----------
    request
        The request.
    response
        Its response; None if it is ``repeated``.
    warnings
        What to warn of: rewards outside the declared bounds.
    repeated
        Whether the same request came before under its key. Nothing was done, and :meth:`to_json` is
        what was answered then.
    kept
        What was answered then.
    """

    request: Request[R]
    response: R
    warnings: list[str]
    repeated: bool = False
    kept: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the answer as JSON values, with the warnings."""
        if self.kept is not None:
            return self.kept
        said = {"warnings": self.warnings} if self.warnings else {}
        return {**self.request.to_json(self.response), **said}


REQUESTS: dict[str, type[Request[Any]]] = {}
"""The requests that travel, by verb: the pipe, the service and its documents are loops over them."""


class Request(t.Fields, Generic[R]):
    """Something that a controller is asked to do, as checked fields.

    Attributes
    ----------
    verb
        What it is called over the wire.
    scope
        What a caller of a service must be allowed: to read, to operate, or to administer.
    travels
        Whether it can be asked for over the wire.
    wrapper
        What JSON calls a response that is no object by itself.
    """

    verb: ClassVar[str]
    scope: ClassVar[Literal["read", "operate", "administer"]] = "operate"
    travels: ClassVar[bool] = True
    wrapper: ClassVar[str] = ""

    _source: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        if "verb" in vars(cls) and cls.travels:
            REQUESTS[cls.verb] = cls

    @classmethod
    def build(cls, fields: Mapping[str, Any], context: Any = None) -> Self:
        """Build a request; None stands for a field that is left out; an error is one line."""
        request = cls.read(cls.verb, fields, context)
        request._source = {name: value for name, value in fields.items() if value is not None}
        return request

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Request[R]:
        """Build a request from values of JSON, which are read strictly."""
        return cls.build(fields, t.JSON)

    @classmethod
    def json_fields(cls) -> type[t.Fields]:
        """Return the model of the fields that JSON has."""
        return cls

    @property
    def digest(self) -> bytes:
        """What must be the same if it comes again under the same key."""
        try:
            fields = json.dumps(self._source, sort_keys=True).encode()
        except TypeError:  # objects that Python gave
            fields = pickle.dumps(sorted(self._source.items()))
        return hashlib.sha256(self.verb.encode() + b"\n" + fields).digest()

    def to_json(self, response: R) -> dict[str, Any]:
        """Return a response as JSON values."""
        plain = _plain(response)
        answer: dict[str, Any] = {self.wrapper: plain} if self.wrapper else plain
        return answer


def _plain(response: Any) -> Any:
    if isinstance(response, list | tuple):
        return [_plain(each) for each in response]
    if hasattr(response, "to_dict"):
        return response.to_dict()
    if is_dataclass(response) and not isinstance(response, type):
        return asdict(response)
    return response


class Ask(Request[list[Trial]]):
    """Choose the next allocation, or several."""

    verb = "ask"
    count: t.Count | None = None
    context: t.Context = None
    contexts: t.Contexts = None
    timeout: t.PositiveNumber | None = None

    def to_json(self, response: list[Trial]) -> dict[str, Any]:
        """Return one trial, or a list if several were asked for."""
        if self.count is None and self.contexts is None:
            return response[0].to_dict()
        return {"trials": [trial.to_dict() for trial in response]}


class Tell(Request[Progress]):
    """Report the rewards of a trial and close it."""

    verb = "tell"
    trial: t.TrialNumber
    rewards: t.Reported


class TellTables(Request[Progress]):
    """Report what shards saw of a trial, as tables."""

    verb, travels = "tell-tables", False
    trial: t.TrialNumber
    tables: Any


class Next(Request[Trial]):
    """Tell a trial and ask for the next."""

    verb = "next"
    trial: t.TrialNumber
    rewards: t.Reported
    context: t.Context = None


class Fail(Request[Progress]):
    """Close a trial that was played and gave no rewards."""

    verb = "fail"
    trial: t.TrialNumber
    reason: t.Text = ""


class Abandon(Request[Progress]):
    """Close a trial that was not played."""

    verb = "abandon"
    trial: t.TrialNumber
    reason: t.Text = ""


class Retract(Request[Progress]):
    """Take back how a trial was closed, or an attached round."""

    verb = "retract"
    trial: t.TrialNumber = None
    key: t.Text | None = None
    event: t.Integer | None = None
    reason: t.Text = ""


class Attach(Request[Progress]):
    """Learn from a round played elsewhere."""

    verb = "attach"
    allocation: t.ByAgent
    rewards: t.Reported
    context: t.Context = None
    key: t.Key | None = None


class ImportRounds(Request[Imported]):
    """Learn from many rounds played elsewhere."""

    verb, travels = "import", False
    log: Any
    key: Any = None
    prefix: str = ""
    dry_run: bool = False


class ExportRounds(Request[Any]):
    """Return every reward that counts."""

    verb, scope, travels = "export", "read", False


class Open(Request[list[Trial]]):
    """Return the trials that wait for rewards, or one of them."""

    verb, scope = "open", "read"
    trial: t.TrialNumber = None

    def to_json(self, response: list[Trial]) -> dict[str, Any]:
        """Return the trials, or the one that was asked for."""
        if self.trial is not None:
            return response[0].to_dict()
        return {"trials": [trial.to_dict() for trial in response]}


class Recommend(Request[Recommendation]):
    """Return the best allowed allocation by the estimate."""

    verb, scope = "recommend", "read"
    context: t.Context = None
    seconds: t.Number = 2.0


class Table(Request[list[Recommendation]]):
    """Return the best allocation in each context."""

    verb, scope = "table", "read"
    wrapper = "rows"
    contexts: t.Contexts
    seconds: t.Number = 2.0


class Predict(Request[Prediction]):
    """Return the expected reward of an allocation."""

    verb, scope = "predict", "read"
    allocation: t.ByAgent
    context: t.Context = None


class GetEstimate(Request[tuple[Estimate, ...]]):
    """Return the estimate of every matrix."""

    verb, scope = "estimate", "read"
    wrapper = "estimates"


class Status(Request[dict[str, Any]]):
    """Return sizes, progress and alerts."""

    verb, scope = "status", "read"


class Watch(Request[list[Alert]]):
    """Close overdue trials and return the alerts in force."""

    verb = "watch"
    wrapper = "alerts"
    stale: t.NotNegative | None = None


class History(Request[list[Entry]]):
    """Return events, oldest first."""

    verb, scope = "history", "read"
    wrapper = "events"
    kind: t.Texts | None = None
    last: t.Positive | None = None
    after: t.Integer | None = None
    before: t.Integer | None = None
    brief: t.Flag = False


class GetRewards(Request[list[RoundReward]]):
    """Return the total rewards of the last rounds."""

    verb, scope, travels = "rewards", "read", False
    last: t.Positive = 100


class Diagnose(Request[Diagnosis]):
    """Check how well the pairwise model predicts held-out rounds."""

    verb, scope = "diagnose", "read"
    worst: t.Integer = 5


class ReplayPolicy(Request[Any]):
    """Estimate what another policy would have earned."""

    verb, scope, travels = "replay", "read", False
    policy: Any
    log: Any = None
    key: Any = None
    runs: t.Positive = 5
    seed: Any = 0
    settings: t.Object = Field(default_factory=dict)


class CheckLog(Request[Check]):
    """Verify the whole log against its seals and snapshot."""

    verb, scope = "check", "read"


class Forbid(Request[int]):
    """Forbid agents to play arms."""

    verb, wrapper = "forbid", "forbidden"
    agents: t.Labels
    arms: t.Labels


class Pin(Request[int]):
    """Let agents play only one arm."""

    verb, wrapper = "pin", "forbidden"
    agents: t.Labels
    arm: t.OneName


class Allow(Request[int]):
    """Let agents play arms again."""

    verb, wrapper = "allow", "forbidden"
    agents: t.Labels
    arms: t.Labels = None


class Discount(Request[float]):
    """Multiply the weight of everything told so far."""

    verb = "discount"
    wrapper = "factor"
    factor: t.Share


class SetPolicy(Request[str]):
    """Switch to another policy, or other settings."""

    verb, scope, wrapper = "set-policy", "administer", "policy"
    policy: Any
    settings: t.Settings = Field(default_factory=dict)
    cut: t.Text = ""

    @classmethod
    def json_fields(cls) -> type[t.Fields]:
        """Return the fields, with the policy by its name."""
        return SetPolicyByName

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Request[str]:
        """Build a request in which the policy goes by its name."""
        return SetPolicyByName.build(fields, t.JSON)


class SetPolicyByName(SetPolicy):
    """The same over the wire."""

    policy: t.Text


class ReplaceGraph(Request[tuple[int, int]]):
    """Play on another graph and keep what was learnt."""

    verb, scope = "replace-graph", "administer"
    graph: Any
    edges: Any = Field(default_factory=dict)
    cut: Any = None

    @classmethod
    def json_fields(cls) -> type[t.Fields]:
        """Return the fields of a graph, and the cut by the name of its method."""
        return GraphAndCut

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Request[tuple[int, int]]:
        """Build a request with the graph that its rows describe."""
        spec = GraphAndCut.read(cls.verb, fields, t.JSON)
        graph, edges = spec.build()
        request = cls.build({"graph": graph, "edges": edges, **cut_setting(spec.cut, graph)})
        request._source = dict(fields)
        return request

    def to_json(self, response: tuple[int, int]) -> dict[str, Any]:
        """Return its sizes."""
        return dict(zip(("agents", "edges"), response, strict=True))
