"""The controller: ask what to play, tell what it paid; every call is logged."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.controller.answers.answers import Entry, Estimate, Prediction, Recommendation, Trial
from gbb.controller.answers.check import Check, check_log
from gbb.controller.answers.history import read_history, read_rounds
from gbb.controller.answers.knowledge import Knowledge
from gbb.controller.answers.status import read_status
from gbb.controller.state.fold import KINDS
from gbb.controller.state.log import Log, Turn
from gbb.controller.state.report import Label
from gbb.controller.storage.errors import RewardWarning
from gbb.controller.storage.events import Draft, Event, seal_draft
from gbb.controller.storage.store import Store, rehearse_study
from gbb.controller.verbs import setup, tell
from gbb.controller.verbs.ask import draft_ask
from gbb.controller.verbs.retract import retract
from gbb.controller.verbs.rewards import open_rewards
from gbb.controller.verbs.setup import Names, list_names
from gbb.controller.verbs.tables import Tables, missing_shards, tell_tables
from gbb.controller.verbs.trials import find_open, find_trial, make_trial
from gbb.cuts import Cut, KCut
from gbb.diagnostics import Diagnosis, diagnose
from gbb.graph import Graph
from gbb.graph.parts import Parts
from gbb.policies import AnyPolicy
from gbb.problem import Problem

if TYPE_CHECKING:
    from gbb.controller.verbs.rewards import Rewards

Allocation = ArrayLike | Mapping[Any, Any]


class Controller:
    """Chooses the arms of a real network, learns what its links pay, and never forgets.

    Start one with :meth:`create` and reopen it with :meth:`open`, from any process: every call that
    changes something is one transaction of an append-only log, durable once the call returns. An
    object may be shared by the threads of one process.
    """

    def __init__(self, log: Log) -> None:
        self._log, self.name = log, log.name

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
        name, first = _first_event(problem, policy, seed, name=name, **settings)
        store = Store(url, create=True)
        return cls(Log(store, store.add_study(name, first), name))

    @classmethod
    def rehearse(cls, url: str | sa.URL, problem: Problem, *rest: Any, **named: Any) -> None:
        """Refuse what :meth:`create` would refuse of the same arguments, and keep nothing."""
        name, first = _first_event(problem, *rest, **named)
        rehearse_study(url, name, first)

    @classmethod
    def open(cls, url: str | sa.URL, name: str | None = None) -> Controller:
        """Open an existing controller; ``name`` may be left out when the database holds only one."""
        store = Store(url)
        return cls(Log(store, *store.find_study(name)))

    @property
    def problem(self) -> Problem:
        """What is known, on the present graph."""
        return self._log.state.setup.problem

    @property
    def policy(self) -> AnyPolicy:
        """The policy that chooses."""
        return self._log.state.setup.policy

    def ask(self) -> Trial:
        """Choose the next allocation; the trial stays open until it is told, failed or abandoned."""
        return self.ask_many(1)[0]

    def ask_many(self, count: int) -> list[Trial]:
        """Choose ``count`` trials at once, none of them with the others' rewards."""
        count = checks.integer("count", count, low=1)
        with self._turn() as turn:
            first = turn.state.trials + 1
            for _ in range(count):
                turn.append(draft_ask(turn.state))
        return [make_trial(turn.state, id) for id in range(first, first + count)]

    def open_trials(self) -> list[Trial]:
        """The trials that wait for rewards, oldest first: where to resume after a crash."""
        state = self._log.refresh()
        return [make_trial(state, id) for id in sorted(state.open)]

    def trial(self, id: int) -> Trial:
        """An open trial by its number."""
        state = self._log.refresh()
        return make_trial(state, find_open(state, id))

    def tell(self, trial: Trial | int, rewards: Rewards) -> None:
        """Report the rewards of ``trial`` and close it.

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
        rewards = open_rewards(rewards)
        with self._turn() as turn:
            tell.tell(turn, find_trial(turn, trial), rewards)

    def tell_tables(self, trial: Trial | int, shard: int, N: ArrayLike, Y: ArrayLike) -> None:
        """Report what one shard of a :class:`gbb.Network` saw of ``trial``.

        Parameters
        ----------
        trial
            The trial or its number.
        shard
            The shard's number.
        N, Y
            How many of its directed links played each pair of arms, and the sum of their rewards
            (K x K, or types x K x K), as :meth:`gbb.Shard.tables` gives them. With weights, sums of w^2
            and of w times the reward. Links whose rewards are missing are left out of both.

        Notes
        -----
        Every shard counts once: the same again changes nothing, anything else is an error. Shards may
        come late and in any order. The trial is closed when all have come, or by :meth:`fail`, which
        keeps what came.
        """
        self.tell_all_tables(trial, {shard: (N, Y)})

    def tell_all_tables(self, trial: Trial | int, tables: Tables) -> None:
        """Report several shards at once, ``{shard: (N, Y)}``, all in one transaction or none."""
        with self._turn() as turn:
            tell_tables(turn, find_trial(turn, trial), tables)

    def tell_and_ask(self, trial: Trial | int, tables: Tables) -> Trial:
        """:meth:`tell_all_tables`, then :meth:`ask`, in one transaction, with one wait for the disk."""
        with self._turn() as turn:
            tell_tables(turn, find_trial(turn, trial), tables)
            turn.append(draft_ask(turn.state))
        return make_trial(turn.state, turn.state.trials)

    def missing_shards(self, trial: Trial | int) -> list[int]:
        """The shards that have not told their tables of an open trial."""
        state = self._log.refresh()
        return missing_shards(state, find_open(state, trial))

    def fail(self, trial: Trial | int, reason: str = "") -> None:
        """Close a trial that was played and gave no rewards, or none but those told in tables."""
        with self._turn() as turn:
            tell.close(turn, find_trial(turn, trial), "fail", reason)

    def abandon(self, trial: Trial | int, reason: str = "") -> None:
        """Close a trial that was not played."""
        with self._turn() as turn:
            tell.close(turn, find_trial(turn, trial), "abandon", reason)

    def retract(self, trial: Trial | int, reason: str = "") -> None:
        """Reopen a closed trial, for example to correct a mistyped reward.

        What was told of it no longer counts, as if it had never been told; the history keeps both.
        Then tell, fail or abandon it anew. Retracting an already reopened trial changes nothing. The
        whole log is replayed, which takes time.
        """
        with self._turn() as turn:
            retract(turn, find_trial(turn, trial), reason)

    def attach(self, allocation: Allocation, rewards: Rewards, *, key: str | None = None) -> None:
        """Learn from a round that was played elsewhere.

        With a ``key`` of its own, a round counts once however often it is attached, and another round
        under the same key is an error. Without, every call counts.
        """
        if key is not None and (not isinstance(key, str) or not key.strip()):
            raise checks.input_error("key", "be a text that is not empty", repr(key))
        rewards = open_rewards(rewards)
        with self._turn() as turn:
            tell.attach(turn, allocation, rewards, key)

    def recommend(self, *, seconds: float = 2.0) -> Recommendation:
        """The best allowed allocation by what is known, searched for within ``seconds``."""
        known = Knowledge(self._log.refresh())
        with one_thread():
            return known.recommend(seconds)

    def predict(self, allocation: Allocation) -> Prediction:
        """The expected global reward of an allocation, with its interval."""
        known = Knowledge(self._log.refresh())
        with one_thread():
            return known.predict(known.problem.allocation(allocation))

    def estimate(self) -> tuple[Estimate, ...]:
        """What is known of M*, one estimate per edge type."""
        known = Knowledge(self._log.refresh())
        with one_thread():
            return known.estimate()

    def history(self, kind: str | Iterable[str] | None = None) -> list[Entry]:
        """Every event, or those of some kinds, the oldest first."""
        kinds = {kind} if isinstance(kind, str) else None if kind is None else set(kind)
        for each in kinds or ():
            checks.choice("kind", each, KINDS)
        return list(read_history(self._log.events(), kinds))

    def diagnose(self, *, worst: int = 5) -> Diagnosis:
        """Check whether the pairwise model predicts what was told on the present graph."""
        state = self._log.refresh()
        problem = state.setup.problem
        problem.check_agents("problem")
        # Others may write meanwhile, even another graph: the state and the rounds are of one moment.
        until = itertools.takewhile(lambda event: event.seq <= state.seq, self._log.events())
        played, paid = read_rounds(until, problem)
        if len(played) == 0:
            raise checks.InputError("No round was told on the present graph: nothing to diagnose.")
        with one_thread():
            return diagnose(problem, played, paid, worst=worst)

    def check(self) -> Check:
        """Read the whole log and compare it with all that was kept of it; an error says what is wrong.

        Opening reads what was told since the last snapshot; this reads everything: every page of an
        SQLite file, the seal of every event, and whether the events fold to what the snapshot says.
        """
        return check_log(self._log)

    def status(self) -> dict[str, Any]:
        """The controller's sizes and progress, as plain values."""
        state = self._log.refresh()
        return {"name": self.name, "url": self._log.store.shown, **read_status(state)}

    def forbid(self, agents: Names, arms: Names) -> None:
        """Forbid agents to play arms from now on; None stands for all agents."""
        self._append("forbid", agents=list_names(agents), arms=list_names(arms))

    def pin(self, agents: Names, arm: Label) -> None:
        """Let agents play only one arm from now on; :meth:`allow` lifts it."""
        arms = list_names(arm)
        if len(arms or ()) != 1:
            cure = "Call allow(agents) to let them play all arms again."
            raise checks.input_error("arm", "be one arm", repr(arm), cure)
        self._append("pin", agents=list_names(agents), arms=arms)

    def allow(self, agents: Names, arms: Names = None) -> None:
        """Let agents play arms again, all of them when left out."""
        self._append("allow", agents=list_names(agents), arms=list_names(arms))

    def replace_graph(
        self,
        graph: Graph,
        *,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        parts: Parts | None = None,
        cut: Cut | KCut | None = None,
    ) -> None:
        """Play on another graph and keep what was learnt.

        Agents are the same when they have the same name; they keep their forbidden arms. Open trials
        are told on the graph they were asked on. A policy with a cut gets ``cut``, greedy by default
        (refined to k parts where it had k). A fixed allocation is kept by agents' names, so there may be
        no new agents.

        Where edges have types or weights, those of the new graph must be given as well. Types
        keep their numbers: none may be dropped, new ones may be added. A :class:`gbb.Network` in shards
        comes with its ``parts``.
        """
        with self._turn() as turn:
            setup.replace_graph(turn, graph, edge_types, edge_weights, cut, parts=parts)

    def set_policy(self, policy: AnyPolicy | str, **settings: Any) -> None:
        """Switch to another policy, or other settings; it starts from everything told so far."""
        with self._turn() as turn:
            setup.set_policy(turn, policy, settings)

    def discount(self, factor: float) -> None:
        """Multiply the weight of everything told so far by ``factor``, in (0, 1].

        Each discount below 1 starts the bound on the noise anew. After k of them the policy and all
        intervals therefore have ``delta / ((k + 1) (k + 2))`` in the place of delta, intervals with
        k = 0, too. So all intervals ever hold together with probability 1 - delta, if what was told did
        not decide when and by how much to discount.
        """
        factor = checks.real("factor", factor, low=0.0, low_open=True, high=1.0)
        self._append("discount", factor=factor)

    def _append(self, kind: str, **content: Any) -> None:
        """Append an event that says all there is to say."""
        with self._turn() as turn:
            turn.append(Draft(kind, content))

    @contextmanager
    def _turn(self) -> Iterator[Turn]:
        """Append events in one transaction."""
        with self._log.turn() as turn:
            yield turn
        # Now that it is kept: a warning may be an exception to the caller.
        for text in turn.notices:
            warnings.warn(text, RewardWarning, stacklevel=4)

    def close(self) -> None:
        """Close the connection to the storage; everything is saved already."""
        self._log.store.close()

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Controller({self._log.store.shown!r}, {self.name!r}, {self.problem!r})"


def _first_event(
    problem: Problem,
    policy: AnyPolicy | str = "ImprovedOFUL",
    seed: Seed = 0,
    *,
    name: str = "default",
    **settings: Any,
) -> tuple[str, Event]:
    """The name of a controller and the event that its log starts with; refuses what cannot be played."""
    setup.check_name(name)
    draft = setup.draft_create(name, problem, policy, seed, settings)
    return name, seal_draft(draft, seq=1, time=time.time(), before=0)
