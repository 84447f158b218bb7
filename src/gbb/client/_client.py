"""The client: a controller elsewhere, with the same verbs and the same answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.json_text import as_json
from gbb.client import answers as read
from gbb.client import given as say
from gbb.client.wire import Reply, Wire
from gbb.controller.commands.rewards import RewardWarning, open_rewards, read_rewards
from gbb.controller.messages import (
    Alert,
    Check,
    Entry,
    Estimate,
    Prediction,
    Recommendation,
    RoundReward,
    Trial,
)
from gbb.controller.queries.table import name_contexts, recommendation_frame
from gbb.controller.state.context import list_contexts
from gbb.controller.state.report import Label
from gbb.controller.types import Names, list_names, read_count
from gbb.diagnostics import Diagnosis
from gbb.graph import Graph
from gbb.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from gbb.controller.types import Rewards

Allocation = ArrayLike | Mapping[Any, Any]
Each = ArrayLike | None
Kinds = str | Iterable[str] | None
Seconds = float | None
Several = Iterable[Any] | None
Text = str | None
Which = Trial | int
Whole = int | None

PROBLEM = "gbb-problem"
"""The header that says which problem an answer is about."""

PAGE = 1000
"""Events that are fetched at once."""


class Client:
    """A controller of a service (``gbb serve``), with the verbs of :class:`gbb.Controller`.

    The same code runs on either. Every write is repeated, under one key, until it is answered, and
    happens once. Threads may share an object.

    Parameters
    ----------
    url
        Where the service is: ``http://127.0.0.1:8000``.
    name
        Which controller; may be left out where the service has one.
    token
        The secret that ``gbb serve token create`` printed, where the service asks for one.
    timeout
        Seconds that one answer may take.
    patience
        For so many seconds, 3000 at most, a service that is away, or too busy, is asked again.
    """

    def __init__(
        self,
        url: str,
        name: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        patience: float = 30.0,
    ) -> None:
        if name is not None and (not isinstance(name, str) or not name):
            raise checks.input_error("name", "be the name of a controller", repr(name))
        self._wire = Wire(url, token, timeout, patience)
        try:
            self._name = self._only() if name is None else name
        except BaseException:
            self._wire.close()
            raise
        self._place = f"/v1/controllers/{quote(self._name, safe='')}"
        self._known: tuple[str, Problem] | None = None
        self._tag = ""

    @classmethod
    def create(
        cls,
        url: str,
        problem: Problem,
        policy: str = "ImprovedOFUL",
        seed: int = 0,
        *,
        name: str = "default",
        token: str | None = None,
        timeout: float = 60.0,
        patience: float = 30.0,
        cut: str | None = None,
        **settings: Any,
    ) -> Client:
        """Start a controller, as :meth:`gbb.Controller.create` does, where the service keeps them.

        The policy goes by its name and its settings, the cut by the name of its method.
        """
        fields = {
            "name": name,
            "problem": say.plain_problem(problem),
            "policy": say.policy_name(policy),
            "seed": seed,
            "cut": say.plain_cut(cut),
            "settings": say.plain(settings) or None,
        }
        made = cls(url, name, token, timeout=timeout, patience=patience)
        given = {field: value for field, value in fields.items() if value is not None}
        try:
            made._wire.post("/v1/controllers", given)
        except BaseException:
            made.close()
            raise
        return made

    def _only(self) -> str:
        """The name of the only controller there is."""
        found = self._wire.get("/v1/controllers").data["controllers"]
        names = [str(each["name"]) for each in found]
        if len(names) == 1:
            return names[0]
        known = ", ".join(map(repr, names))
        rule = f"several controllers: pass `name`, one of {known}" if known else "none"
        raise InputError(f"Cannot tell which controller is meant: this service has {rule}.")

    @property
    def name(self) -> str:
        """The controller's name."""
        return self._name

    @property
    def problem(self) -> Problem:
        """What is known, on the present graph."""
        return self._problem()

    def _problem(self, again: bool = True) -> Problem:
        """The problem; as the last answer knew it, unless it is to be looked at ``again``."""
        known = self._known
        if known is not None and not again and known[0] == self._tag:
            return known[1]
        tag = None if known is None else known[0]
        reply = self._wire.get(f"{self._place}/problem", tag=tag)
        if known is not None and reply.status == 304:
            found = known
        else:
            found = (reply.headers.get("etag", ""), read.read_problem(reply.data))
        self._known, self._tag = found, found[0]
        return found[1]

    def _get(self, verb: str, *, more: float = 0.0, **query: Any) -> Any:
        return self._note(self._wire.get(f"{self._place}/{verb}", query, more=more)).data

    def _note(self, reply: Reply) -> Reply:
        """Remember which problem an answer is about."""
        self._tag = reply.headers.get(PROBLEM, self._tag)
        return reply

    def _do(self, verb: str, *, more: float = 0.0, **fields: Any) -> Any:
        """Do something, and warn of what the controller warns of."""
        given = {name: value for name, value in fields.items() if value is not None}
        found = self._note(self._wire.post(f"{self._place}/{verb}", given, more=more)).data
        for text in found.get("warnings", ()):
            warnings.warn(text, RewardWarning, stacklevel=3)
        return found

    @contextmanager
    def _in_python(self, rewards: Rewards) -> Iterator[None]:
        """Refuse ``rewards`` in the words of Python where the service speaks of JSON."""
        try:
            yield
        except InputError as error:
            if "to be JSON rows" in str(error):
                read_rewards(self._problem(), open_rewards(rewards))
            raise

    def _trial(self, data: Any) -> Trial:
        """A trial, on the graph that it is played on."""
        return read.read_trial(data, self._problem(again=False))

    def ask(self, context: Any = None, *, timeout: Seconds = None) -> Trial:
        """Choose the next allocation; the trial stays open until it is told, failed or abandoned."""
        return self._trial(self._do("ask", context=self._context(context), timeout=timeout))

    def ask_many(
        self, count: int, *, context: Any = None, contexts: Several = None, timeout: Seconds = None
    ) -> list[Trial]:
        """Choose ``count`` trials at once, none of them with the others' rewards."""
        count = read_count("count", count)
        each = list_contexts(count, context, contexts)
        if contexts is None:
            found = self._do("ask", count=count, context=self._context(context), timeout=timeout)
        else:
            known = [self._context(context) for context in each]
            found = self._do("ask", contexts=known, timeout=timeout)
        return [self._trial(trial) for trial in found["trials"]]

    def _context(self, context: Any) -> Any:
        if context is None:
            return None
        return say.plain_context(self._problem(again=False), context)

    def open_trials(self) -> list[Trial]:
        """The trials that wait for rewards, oldest first: where to resume after a crash."""
        return [self._trial(trial) for trial in self._get("open")["trials"]]

    def trial(self, id: int) -> Trial:
        """An open trial by its number."""
        return self._trial(self._get("open", trial=_number(id)))

    def tell(self, trial: Which, rewards: Rewards) -> None:
        """Report the rewards of ``trial`` and close it, as :meth:`gbb.Controller.tell` does."""
        with self._in_python(rewards):
            self._do("tell", trial=_number(trial), rewards=say.plain_rewards(rewards))

    def next(self, trial: Which, rewards: Rewards, context: Any = None) -> Trial:
        """Tell ``trial`` and ask for another, in one transaction and one request."""
        paid = say.plain_rewards(rewards)
        known = self._context(context)
        with self._in_python(rewards):
            found = self._do("next", trial=_number(trial), rewards=paid, context=known)
        return self._trial(found)

    def fail(self, trial: Which, reason: str = "") -> None:
        """Close a trial that was played and gave no rewards."""
        self._do("fail", trial=_number(trial), reason=reason)

    def abandon(self, trial: Which, reason: str = "") -> None:
        """Close a trial that was not played."""
        self._do("abandon", trial=_number(trial), reason=reason)

    def retract(
        self, trial: Which | None = None, reason: str = "", *, key: Text = None, event: Whole = None
    ) -> None:
        """Reopen a closed trial, or drop an attached round, as :meth:`gbb.Controller.retract` does."""
        which = None if trial is None else _number(trial)
        self._do("retract", trial=which, reason=reason, key=key, event=event)

    def attach(
        self, allocation: Allocation, rewards: Rewards, *, context: Any = None, key: Text = None
    ) -> None:
        """Learn from a round that was played elsewhere, once under its ``key``."""
        with self._in_python(rewards):
            self._do(
                "attach",
                allocation=say.plain(allocation),
                rewards=say.plain_rewards(rewards),
                context=self._context(context),
                key=key,
            )

    def export_rounds(self) -> pd.DataFrame:
        """Every reward that counts, with its arms."""
        import pandas as pd  # noqa: PLC0415  (slow to load)

        text = self._wire.get(f"{self._place}/export.csv").body.decode("utf-8")
        columns, rows = read.read_table(text, self.problem)
        return pd.DataFrame(rows, columns=list(columns), dtype=object)

    def recommend(self, context: Any = None, *, seconds: float = 2.0) -> Recommendation:
        """The best allowed allocation by what is known, searched for within ``seconds``."""
        seconds = checks.real("seconds", seconds)
        known = self._context(context)
        text = None if known is None else as_json(known)
        found = self._get("recommend", more=seconds, context=text, seconds=seconds)
        return read.read_recommendation(found, self._problem(again=False))

    def recommend_table(
        self, contexts: Iterable[Any] | Mapping[Any, Any], *, seconds: float = 2.0
    ) -> pd.DataFrame:
        """What is best in each of some ``contexts``; a mapping has names for them."""
        problem, seconds = self.problem, checks.real("seconds", seconds)
        names, listed = name_contexts(problem, contexts)
        known = [say.plain(each) for each in listed]
        found = self._do("table", more=seconds * len(known), contexts=known, seconds=seconds)
        best = [read.read_recommendation(each, problem) for each in found["rows"]]
        return recommendation_frame(problem, names, best)

    def predict(self, allocation: Allocation, context: Any = None) -> Prediction:
        """The expected global reward of an allocation, with its interval."""
        known = self._context(context)
        return Prediction(**self._do("predict", allocation=say.plain(allocation), context=known))

    def estimate(self) -> tuple[Estimate, ...]:
        """What is known of M*, one estimate per edge type; with contexts, of every matrix."""
        return tuple(read.read_estimate(each) for each in self._get("estimate")["estimates"])

    def history(
        self,
        kind: Kinds = None,
        *,
        last: Whole = None,
        after: Whole = None,
        before: Whole = None,
        brief: bool = False,
    ) -> list[Entry]:
        """Every event, or those of some kinds, the oldest first, as :meth:`gbb.Controller.history`."""
        kinds = None if kind is None else [kind] if isinstance(kind, str) else sorted(kind)
        most = None if last is None else checks.integer("last", last, low=1)
        back = most is not None and after is None
        short = "true" if brief else None
        place = before if back else (after or 0)
        found: list[Any] = []
        while most is None or len(found) < most:
            limit = PAGE if most is None else min(PAGE, most - len(found))
            ends: dict[str, Any] = {"before": place} if back else {"after": place}
            page = self._get("history", kind=kinds, limit=limit, brief=short, **ends)
            some, place = page["entries"], page["next"]
            ended = before is not None and not back
            found += [each for each in some if not ended or each["seq"] < (before or 0)]
            if place is None or (ended and some and some[-1]["seq"] >= (before or 0)):
                break
        problem = self._problem(again=False)
        return [read.read_entry(each, problem) for each in (found[::-1] if back else found)]

    def rewards(self, last: int = 100) -> list[RoundReward]:
        """What the ``last`` rounds paid, the oldest first."""
        return [read.read_paid(each) for each in self._get("rewards", last=last)["rounds"]]

    def diagnose(self, *, worst: int = 5) -> Diagnosis:
        """Check whether the pairwise model predicts what was told on the present graph."""
        return read.read_diagnosis(self._get("diagnose", worst=worst))

    def check(self) -> Check:
        """Read the whole log and compare it with all that was kept of it."""
        return Check(**self._get("check"))

    def status(self) -> dict[str, Any]:
        """The controller's sizes and progress, as plain values."""
        found: dict[str, Any] = self._get("status")
        return {"name": found.pop("name"), "url": self._wire.url, **found}

    def watch(self, *, stale: float | None = None) -> list[Alert]:
        """Close trials whose time is up, and say which alerts are in force."""
        return [read.read_alert(each) for each in self._do("watch", stale=stale)["alerts"]]

    def forbid(self, agents: Names, arms: Names) -> None:
        """Forbid agents to play arms from now on; None stands for all agents."""
        self._change("forbid", agents=list_names("agents", agents), arms=list_names("arms", arms))

    def pin(self, agents: Names, arm: Label) -> None:
        """Let agents play only one arm from now on; :meth:`allow` lifts it."""
        arms = list_names("arm", arm)
        if arms is None or len(arms) != 1:
            cure = "Call allow(agents) to let them play all arms again."
            raise checks.input_error("arm", "be one arm", repr(arm), cure)
        self._change("pin", agents=list_names("agents", agents), arm=arms[0])

    def allow(self, agents: Names, arms: Names = None) -> None:
        """Let agents play arms again, all of them when left out."""
        self._change("allow", agents=list_names("agents", agents), arms=list_names("arms", arms))

    def _change(self, verb: str, **who: Any) -> None:
        """Change who may play what; null stands for all."""
        self._note(self._wire.post(f"{self._place}/{verb}", who))

    def replace_graph(
        self,
        graph: Graph,
        *,
        edge_types: Each = None,
        edge_weights: Each = None,
        features: Each = None,
        cut: Text = None,
    ) -> None:
        """Play on another graph and keep what was learnt, as :meth:`gbb.Controller.replace_graph`."""
        if not isinstance(graph, Graph):
            raise checks.input_error("graph", "be a gbb.Graph", type(graph).__name__)
        links = {"edge_types": edge_types, "edge_weights": edge_weights, "features": features}
        fields = say.plain_graph(graph, links)
        self._do("replace-graph", cut=say.plain_cut(cut), **fields)

    def set_policy(self, policy: str, *, cut: str | None = None, **settings: Any) -> None:
        """Switch to another policy, or other settings; it starts from everything told so far."""
        given = say.plain(settings) or None
        name = say.policy_name(policy)
        self._do("set-policy", policy=name, cut=say.plain_cut(cut), settings=given)

    def discount(self, factor: float) -> None:
        """Multiply the weight of everything told so far by ``factor``, in (0, 1]."""
        factor = checks.real("factor", factor, low=0.0, low_open=True, high=1.0)
        self._do("discount", factor=factor)

    def close(self) -> None:
        """Close the connections; everything is saved already."""
        self._wire.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._wire.url!r}, {self.name!r})"


def _number(trial: Trial | int) -> int:
    """The number of a trial."""
    if isinstance(trial, Trial):
        return trial.id
    return checks.integer("trial", trial, cure="Give the trial or its number.")
