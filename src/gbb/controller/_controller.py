"""Controller: ask what to play, tell what it paid, and keep every bit of it."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import ArrayLike

from gbb import policies
from gbb._support import checks, seeds
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.controller import _retract, _tell
from gbb.controller._ask import next_ask
from gbb.controller._log import Log, Turn
from gbb.controller._rewards import Rewards
from gbb.controller.answers.answers import (
    Entry,
    Estimate,
    Label,
    Prediction,
    Recommendation,
    Trial,
    named,
)
from gbb.controller.answers.history import entries
from gbb.controller.answers.told import told
from gbb.controller.answers.typed_knowledge import known_by
from gbb.controller.state.fold import KINDS
from gbb.controller.state.network import Network, graph_to, played, problem_to, replaced
from gbb.controller.state.spec import moved, policy_of, policy_to
from gbb.controller.state.state import State, seed_to
from gbb.controller.storage.errors import RewardWarning
from gbb.controller.storage.events import Draft, sealed
from gbb.controller.storage.store import Store
from gbb.cuts import Cut, KCut
from gbb.diagnostics import Diagnosis, diagnose
from gbb.graph import Graph
from gbb.learning.estimator import Record
from gbb.learning.typed import tables
from gbb.policies import AnyPolicy
from gbb.problem import Problem

Names = Label | Iterable[Label] | None
Allocation = ArrayLike | Mapping[Any, Any]


class Controller:
    """Chooses the arms of a real network, learns what its links pay, and never forgets.

    Make one with :meth:`create` and come back to it with :meth:`open`, from any process: every call
    that changes something is one transaction of an append-only log, and has happened for good when
    it returns. One object serves one process and its threads.
    """

    def __init__(self, log: Log, name: str) -> None:
        self._log, self.name = log, name

    @classmethod
    def create(
        cls,
        url: str | sa.URL,
        problem: Problem,
        policy: AnyPolicy | str = "ImprovedOFUL",
        seed: Seed = 0,
        *,
        name: str = "default",
        **settings: Any,
    ) -> Controller:
        """Start a controller.

        Parameters
        ----------
        url
            ``sqlite:///file.db``, or ``postgresql://user@host/database`` for several hosts.
        problem
            What is known: the graph, the arms and the bounds.
        policy
            A policy of ``problem``, or the name of one.
        seed
            Where the policy's randomness comes from: the asks are the choices of
            ``gbb.simulate(..., runs=1, seed=seed)``.
        name
            The controller's name; one database holds many.
        **settings
            Settings of a policy given by name, such as ``delta``; the cut is greedy by default.
        """
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        if not isinstance(name, str) or not name.strip():
            raise checks.input_error("name", "be a text that is not empty", repr(name))
        try:
            name.encode()
        except UnicodeEncodeError:
            raise checks.input_error("name", "be a text that UTF-8 can hold", ascii(name)) from None
        chosen = policy_of(policy, problem, settings)
        child = seeds.spawn(seed, 1)[0].spawn(2)[1]  # as the first run of gbb.simulate
        content = {
            "problem": problem_to(problem),
            "graph": graph_to(Network.of(problem)),
            "policy": policy_to(chosen),
            "seed": seed_to(child),
        }
        first = sealed(Draft("create", content), seq=1, time=time.time(), before=0)
        store = Store(url, create=True)
        return cls(Log(store, store.add_study(name, first)), name)

    @classmethod
    def open(cls, url: str | sa.URL, name: str | None = None) -> Controller:
        """Come back to a controller; ``name`` may be left out where there is only one."""
        store = Store(url)
        study, found = store.study(name)
        return cls(Log(store, study), found)

    @property
    def problem(self) -> Problem:
        """What is known, on the present graph."""
        return self._log.state.setup.problem

    @property
    def policy(self) -> AnyPolicy:
        """The policy that chooses."""
        return self._log.state.setup.policy

    def ask(self) -> Trial:
        """What each agent should do next; the trial stays open until it is told, failed or abandoned."""
        return self.ask_many(1)[0]

    def ask_many(self, count: int) -> list[Trial]:
        """``count`` trials at once; none of them knows the others' rewards."""
        count = checks.integer("count", count, low=1)
        with self._log.turn() as turn:
            first = turn.state.trials + 1
            for _ in range(count):
                turn.append(next_ask(turn.state))
        return [_trial(turn.state, id) for id in range(first, first + count)]

    def open_trials(self) -> list[Trial]:
        """The trials that wait for rewards, the oldest first; where to go on after a crash."""
        state = self._log.refresh()
        return [_trial(state, id) for id in sorted(state.open)]

    def trial(self, id: int) -> Trial:
        """An open trial by its number."""
        state = self._log.refresh()
        if id not in state.open:
            raise checks.input_error(
                "trial", "be open", id, f"Open are: {sorted(state.open) or 'none'}."
            )
        return _trial(state, id)

    def tell(self, trial: Trial | int, rewards: Rewards) -> None:
        """What was paid when ``trial`` was played; closes the trial.

        Parameters
        ----------
        trial
            The trial or its number.
        rewards
            ``{(agent, agent): reward}``; or an array in the graph's edge order; or a pandas table or
            a CSV file with the columns source, target and reward. All but the array may leave edges
            out. With ``feedback="agent"`` agents take the place of links: ``{agent: reward}``, an array
            in agent order, or the columns agent and reward; with ``"global"`` it is one number.
            Trials may be told late and in any order.

        Notes
        -----
        Telling a trial the same again changes nothing; telling it anything else is an error.
        """
        with self._log.turn() as turn:
            _tell.tell(turn, _id(turn, trial), rewards)
        _warn(turn)

    def fail(self, trial: Trial | int, reason: str = "") -> None:
        """Close a trial that was played and gave no rewards."""
        with self._log.turn() as turn:
            _tell.close(turn, _id(turn, trial), "fail", reason)

    def abandon(self, trial: Trial | int, reason: str = "") -> None:
        """Close a trial that was not played."""
        with self._log.turn() as turn:
            _tell.close(turn, _id(turn, trial), "abandon", reason)

    def retract(self, trial: Trial | int, reason: str = "") -> None:
        """Take back how ``trial`` was closed, such as a mistyped reward: it is open again.

        What was told of it counts no more, as if it had never been told; the history keeps both. Tell,
        fail or abandon it anew. Retracting it again before that changes nothing. Takes a replay of
        the log.
        """
        with self._log.turn() as turn:
            _retract.retract(turn, _id(turn, trial), reason)

    def attach(self, allocation: Allocation, rewards: Rewards, *, key: str | None = None) -> None:
        """Learn from a round that was played elsewhere.

        With a ``key`` of its own, a round counts once however often it is attached, and another round
        under the same key is an error. Without, every call counts.
        """
        if key is not None and (not isinstance(key, str) or not key.strip()):
            raise checks.input_error("key", "be a text that is not empty", repr(key))
        with self._log.turn() as turn:
            _tell.attach(turn, allocation, rewards, key)
        _warn(turn)

    def recommend(self, *, seconds: float = 2.0) -> Recommendation:
        """The best allowed allocation by what is known, searched for within ``seconds``."""
        state = self._log.refresh()
        known, allowed = known_by(state), state.setup.allowed
        with one_thread():
            best = known.best(allowed, seconds)
            upper = known.upper_bound(best, allowed)
            reward, low, high = (min(value, upper) for value in known.predict(best.allocation))
        return Recommendation(
            allocation=named(known.problem.graph, best.allocation, known.problem.arm_names),
            arms=best.allocation,
            reward=reward,
            low=low,
            high=high,
            upper_bound=upper,
            proven=best.proven,
            caveat=known.caveat,
        )

    def predict(self, allocation: Allocation) -> Prediction:
        """The expected global reward of an allocation, with its interval."""
        known = known_by(self._log.refresh())
        with one_thread():
            return Prediction(*known.predict(known.problem.allocation(allocation)), known.caveat)

    def estimate(self) -> tuple[Estimate, ...]:
        """What is known of M*, one estimate per edge type."""
        known = known_by(self._log.refresh())
        with one_thread():
            return known.estimates()

    def history(self, kind: str | Iterable[str] | None = None) -> list[Entry]:
        """Every event, or those of some kinds, the oldest first."""
        kinds = {kind} if isinstance(kind, str) else None if kind is None else set(kind)
        for each in kinds or ():
            checks.choice("kind", each, KINDS)
        return list(entries(self._log.events(), kinds))

    def diagnose(self, *, worst: int = 5) -> Diagnosis:
        """Whether the pairwise model predicts what was told on the present graph."""
        state = self._log.refresh()
        problem = state.setup.problem
        # Others may write meanwhile, even another graph: the state and the rounds are of one moment.
        until = itertools.takewhile(lambda event: event.seq <= state.seq, self._log.events())
        played, paid = told(until, problem)
        if len(played) == 0:
            rule = "have been told a round on its present graph"
            raise checks.input_error("controller", rule, "none")
        with one_thread():
            return diagnose(problem, played, paid, worst=worst)

    def status(self) -> dict[str, Any]:
        """How far the controller is, in plain values."""
        state = self._log.refresh()
        problem, allowed, record = state.setup.problem, state.setup.allowed, state.record
        counted = isinstance(record, Record) and not problem.weighted
        kinds = (
            {}
            if problem.is_paper_problem
            else {"feedback": problem.feedback, "types": problem.types}
        )
        return {
            "name": self.name,
            "url": self._log.store.shown,
            "policy": state.setup.policy.name,
            "agents": problem.n,
            "edges": problem.m,
            "arms": problem.K,
            **kinds,
            "rounds": state.rounds,
            "trials": state.trials,
            "open": sorted(state.open),
            "events": state.seq,
            **({"edge_rewards": float(tables(record).N.sum())} if counted else {}),
            "forbidden": 0 if allowed is None else int((~allowed).sum()),
        }

    def forbid(self, agents: Names, arms: Names) -> None:
        """Keep agents from playing arms from now on; None stands for all agents."""
        self._arms("forbid", agents, arms)

    def pin(self, agents: Names, arm: Label) -> None:
        """Let agents play one arm only from now on; :meth:`allow` lets them play others again."""
        if len(_labels(arm) or ()) != 1:
            cure = "Call allow(agents) to let them play all arms again."
            raise checks.input_error("arm", "be one arm", repr(arm), cure)
        self._arms("pin", agents, arm)

    def allow(self, agents: Names, arms: Names = None) -> None:
        """Let agents play arms (all of them when left out) again."""
        self._arms("allow", agents, arms)

    def replace_graph(
        self,
        graph: Graph,
        *,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        cut: Cut | KCut | None = None,
    ) -> None:
        """Play on another graph and keep what was learnt.

        Agents are the same when they have the same name; they keep their forbidden arms. Open trials
        are told on the graph they were asked on. A policy with a cut gets ``cut``, greedy by default
        (refined to k parts where it had k); a fixed allocation goes by names and wants no new agents.

        Where edges have types or weights, those of the new graph must be given as well. A type's
        number keeps its meaning, none may go, and new ones may come.
        """
        if not isinstance(graph, Graph):
            raise checks.input_error("graph", "be a gbb.Graph", type(graph).__name__)
        with self._log.turn() as turn:
            setup = turn.state.setup
            problem = replaced(setup.base, setup.problem, graph, edge_types, edge_weights)
            spec = moved(setup.spec, setup.problem.graph, problem, cut)
            content = {"graph": graph_to(Network.of(problem)), "policy": spec}
            turn.append(Draft("graph", content))

    def set_policy(self, policy: AnyPolicy | str, **settings: Any) -> None:
        """Let another policy, or other settings, choose from now on; it knows all that was told."""
        with self._log.turn() as turn:
            setup = turn.state.setup
            problem = setup.problem
            if isinstance(policy, str) and policy in policies.classes():
                # By name: on the problem that it will play.
                spec = {"kind": policy}
                problem = played(setup.base, turn.state.network, spec, setup.allowed)
            chosen = policy_of(policy, problem, settings)
            turn.append(Draft("policy", {"policy": policy_to(chosen)}))

    def discount(self, factor: float) -> None:
        """Let everything told so far count ``factor`` of what it did, in (0, 1]."""
        factor = checks.real("factor", factor, low=0.0, low_open=True, high=1.0)
        with self._log.turn() as turn:
            turn.append(Draft("discount", {"factor": factor}))

    def _arms(self, kind: str, agents: Names, arms: Names) -> None:
        content = {"agents": _labels(agents), "arms": _labels(arms)}
        with self._log.turn() as turn:
            turn.append(Draft(kind, content))

    def close(self) -> None:
        """Let the storage go; everything is in it already."""
        self._log.store.close()

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Controller({self._log.store.shown!r}, {self.name!r}, {self.problem!r})"


def _trial(state: State, id: int) -> Trial:
    ask = state.open[id]
    return Trial(
        id, ask.round, ask.allocation, state.graphs[ask.graph], state.setup.problem.arm_names
    )


def _id(turn: Turn, trial: Trial | int) -> int:
    """The number of a trial, which must be of this controller."""
    if isinstance(trial, Trial):
        _tell.check_own(turn, trial.id, trial.arms, trial.graph)
        return trial.id
    return checks.integer("trial", trial, cure="Give the trial or its number.")


def _labels(names: Names) -> list[Label] | None:
    """A list of names; None stays None."""
    if names is None:
        return None
    if isinstance(names, np.ndarray):
        names = names.ravel().tolist()
    one = isinstance(names, str) or not isinstance(names, Iterable)
    given: list[Any] = [names] if one else list(names)  # type: ignore[arg-type]
    if isinstance(names, Set):
        given.sort(key=str)  # a set has no order, and the log should not depend on chance
    return [name.item() if isinstance(name, np.generic) else name for name in given]


def _warn(turn: Turn) -> None:
    """Say what the turn noticed, now that it is kept: a warning may be an exception to the caller."""
    for text in turn.notices:
        warnings.warn(text, RewardWarning, stacklevel=3)
