"""The facade: what can be asked of a controller, here or over HTTP."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, final

from numpy.typing import ArrayLike

from gbb._support.seeds import Seed
from gbb.controller import messages as m
from gbb.controller.commands.rewards import RewardWarning, open_rewards
from gbb.controller.queries.table import name_contexts, recommendation_frame
from gbb.controller.types import Allocation, Names
from gbb.diagnostics import Diagnosis
from gbb.policies import AnyPolicy

if TYPE_CHECKING:
    import pandas as pd

    from gbb.controller.queries.replay import Replay
    from gbb.controller.state.report import Label
    from gbb.controller.types import Rewards
    from gbb.cuts import Cut
    from gbb.graph import Graph
    from gbb.problem import Problem

R = TypeVar("R")


class BaseController(ABC):
    """Chooses the arms of a network, learns what its links pay, and never forgets.

    Every method is one request (:mod:`gbb.controller.messages`), which :meth:`execute` carries out.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The controller's name."""

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """The problem on the present graph."""

    @abstractmethod
    def execute(
        self, request: m.Request[R], *, by: str | None = None, key: str | None = None
    ) -> m.Executed[R]:
        """Carry out a request, once per key.

        Parameters
        ----------
        request
            What to do.
        by
            Who asks for it: every event of it says so.
        key
            The request's own key. Its answer is kept with its events for an hour; if the same request
            comes again, nothing is done and that is the answer. Another request under the key is an
            error.
        """

    @abstractmethod
    def close(self) -> None:
        """Let connections go; everything is saved already."""

    @final
    def _call(self, model: type[m.Request[R]], /, **fields: Any) -> R:
        """Build a request, send it, warn of what it warns of, and return its response."""
        done = self.execute(model.build(fields))
        # It is kept already: a warning may be an exception to the caller.
        for text in done.warnings:
            warnings.warn(text, RewardWarning, stacklevel=3)
        return done.response

    def ask(self, context: Any = None, *, timeout: float | None = None) -> m.Trial:
        """Choose the next allocation; the trial stays open until it is told, failed or abandoned.

        ``context`` is what is known before the round, if the problem has contexts. With a
        ``timeout``, a trial that is still open after so many seconds is closed, as played and
        never heard of, by the next call that writes and is not about it, or by :meth:`watch`.
        """
        return self._call(m.Ask, count=1, context=context, timeout=timeout)[0]

    def ask_many(
        self,
        count: int,
        *,
        context: Any = None,
        contexts: Iterable[Any] | None = None,
        timeout: float | None = None,
    ) -> list[m.Trial]:
        """Choose ``count`` trials at once, none of them with the others' rewards.

        All in one ``context``, or each in its own of ``contexts``.
        """
        return self._call(m.Ask, count=count, context=context, contexts=contexts, timeout=timeout)

    def open_trials(self) -> list[m.Trial]:
        """Return the trials that wait for rewards, oldest first: where to resume after a crash."""
        return self._call(m.Open)

    def trial(self, id: int) -> m.Trial:
        """Return an open trial by its number."""
        return self._call(m.Open, trial=id)[0]

    def tell(self, trial: m.Trial | int, rewards: Rewards) -> None:
        """Report the rewards of ``trial`` and close it.

        Parameters
        ----------
        trial
            The trial or its number.
        rewards
            ``{(agent, agent): reward}``; or an array in the graph's edge order; or a pandas table or
            a CSV file with the columns source, target and reward. All but the array may leave edges
            out. With ``feedback="link"`` a reward is that of a link, named once by its ends in either
            order, and an array is in the order of the edges (i, j) with i < j. With ``"agent"`` agents
            take the place of links: ``{agent: reward}``, an array in agent order, or the columns agent
            and reward; with ``"global"`` it is one number.
            Trials may be told late and in any order.

        Notes
        -----
        Telling a trial the same again changes nothing; telling it anything else is an error.
        """
        self._call(m.Tell, trial=trial, rewards=open_rewards(rewards))

    def next(self, trial: m.Trial | int, rewards: Any, context: Any = None) -> m.Trial:
        """Tell ``trial`` and ask for the next, in one transaction: one wait for the disk, not two.

        Of a network in shards it takes the tables of shards, ``{shard: (N, Y)}``. Both happen or
        neither. A caller that never heard back says the same again and gets the same trial, as long as
        it is open. ``context`` is that of the round to come, as in :meth:`ask`.
        """
        return self._call(m.Next, trial=trial, rewards=open_rewards(rewards), context=context)

    def fail(self, trial: m.Trial | int, reason: str = "") -> None:
        """Close a trial that was played and gave no rewards, or none but those told in tables."""
        self._call(m.Fail, trial=trial, reason=reason)

    def abandon(self, trial: m.Trial | int, reason: str = "") -> None:
        """Close a trial that was not played."""
        self._call(m.Abandon, trial=trial, reason=reason)

    def retract(
        self,
        trial: m.Trial | int | None = None,
        reason: str = "",
        *,
        key: str | None = None,
        event: int | None = None,
    ) -> None:
        """Reopen a closed trial, for example to correct a mistyped reward; or drop an attached round.

        What was told of it no longer counts, as if it had never been told; the history keeps both.
        Then tell, fail or abandon the trial anew. An attached round is named by its ``key``, which may
        then be attached anew, or by the number of its ``event``, which the history says. Retracting
        again changes nothing. The whole log is replayed, which takes time, while others go on writing.
        """
        self._call(m.Retract, trial=trial, reason=reason, key=key, event=event)

    def attach(
        self,
        allocation: Allocation,
        rewards: Rewards,
        *,
        context: Any = None,
        key: str | None = None,
    ) -> None:
        """Learn from a round that was played elsewhere, in its own ``context`` if there are any.

        With a ``key`` of its own, a round counts once however often it is attached, and another round
        under the same key is an error. Without, every call counts. An allocation by name may leave out
        agents that no reward depends on.
        """
        rewards = open_rewards(rewards)
        self._call(m.Attach, allocation=allocation, rewards=rewards, context=context, key=key)

    def import_rounds(
        self,
        log: pd.DataFrame | str | Path,
        *,
        key: str | None = None,
        prefix: str = "",
        dry_run: bool = False,
    ) -> m.Imported:
        """Learn from many rounds that were played elsewhere, all of them or, on an error, none.

        Parameters
        ----------
        log
            A pandas table or a CSV file. In long form it has a row for each reward, with the columns
            key, source, target, source_arm, target_arm and reward, as ``gbb control export`` writes it
            (with ``feedback="agent"`` key, agent, arm and reward; with ``"global"`` key, allocation
            and reward). In wide form it has a row for each round: a column key, one with the arms of
            each agent under its name, and one with the rewards of each link, called ``a->b``
            (``reward a`` for agent a, ``reward`` for the sum of all). Blank cells are missing. Only
            arms that a reward depends on are needed. If rounds have contexts, either form has a
            column context with the regime, or one for each number c of a vector, ``context c``.
        key
            The column that tells rounds apart; key, round or trial when left out. A round counts once
            under its key, however often it is imported or attached; another round under the same key is
            an error.
        prefix
            What to put before every key, for files that number their rounds alike.
        dry_run
            Say what was understood, refuse what would be refused, and keep nothing.

        Notes
        -----
        The state afterwards is that of attaching the rounds one by one, in the order in which their keys
        first come up, to the last bit.
        """
        return self._call(m.ImportRounds, log=log, key=key, prefix=prefix, dry_run=dry_run)

    def export_rounds(self) -> pd.DataFrame:
        """Return every reward that counts, with its arms, as :meth:`import_rounds` reads it back.

        Rounds that were attached without a key, and trials, have one that says whose they are, so that
        no controller learns its own rounds twice.
        """
        frame: pd.DataFrame = self._call(m.ExportRounds)
        return frame

    def recommend(self, context: Any = None, *, seconds: float = 2.0) -> m.Recommendation:
        """Return the best allowed allocation by the estimate, searched for within ``seconds``."""
        return self._call(m.Recommend, context=context, seconds=seconds)

    def recommend_table(
        self, contexts: Iterable[Any] | Mapping[Any, Any], *, seconds: float = 2.0
    ) -> pd.DataFrame:
        """Return the best allocation in each of some ``contexts``, for an operator to load into a plant.

        A row for each context: its cells, the arm of every agent, and reward, low, high and proven. All
        of it is of one moment. A mapping has names for the contexts; ``seconds`` are those of each
        search.
        """
        problem = self.problem
        names, listed = name_contexts(problem, contexts)
        found = self._call(m.Table, contexts=listed, seconds=seconds)
        return recommendation_frame(problem, names, found)

    def predict(self, allocation: Allocation, context: Any = None) -> m.Prediction:
        """Return the expected global reward of an allocation, with its interval."""
        return self._call(m.Predict, allocation=allocation, context=context)

    def estimate(self) -> tuple[m.Estimate, ...]:
        """Return the estimate of M*, one for each edge type; with contexts, of every matrix."""
        return self._call(m.GetEstimate)

    def history(
        self,
        kind: str | Iterable[str] | None = None,
        *,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        brief: bool = False,
    ) -> list[m.Entry]:
        """Return every event, or those of some kinds, the oldest first.

        Parameters
        ----------
        kind
            The kind, or kinds, of events; all when left out.
        last
            At most so many: the last ones or, if ``after`` is given, the first after it.
        after, before
            Only events after, or before, the one with this number.
        brief
            The first agents of an allocation and how many there are, and the sum of the rewards and how
            many were told, in the place of all of them.
        """
        return self._call(m.History, kind=kind, last=last, after=after, before=before, brief=brief)

    def rewards(self, last: int = 100) -> list[m.RoundReward]:
        """Return what the ``last`` rounds paid, oldest first; not those that shards told in tables."""
        return self._call(m.GetRewards, last=last)

    def diagnose(self, *, worst: int = 5) -> Diagnosis:
        """Check how well the pairwise model predicts what was told on the present graph."""
        return self._call(m.Diagnose, worst=worst)

    def replay(
        self,
        policy: AnyPolicy | str,
        log: pd.DataFrame | str | Path | None = None,
        *,
        key: str | None = None,
        runs: int = 5,
        seed: Seed = 0,
        **settings: Any,
    ) -> Replay:
        """Estimate what another policy would have earned in the rounds of a log.

        The model is fitted to the log, and the policy plays against it from the start, for as many
        rounds; in rounds in which it plays what the log did, the logged rewards are used. The answer has
        an interval, for which it plays against the ends of the confidence set too, and says what it
        relies on. It is no experiment: what the model cannot represent, it does not know of.

        Parameters
        ----------
        policy
            A policy of ``controller.problem``, or the name of one.
        log
            A table as in :meth:`import_rounds`, of which nothing is kept; left out, the rounds that this
            controller was told on the present graph.
        key
            The column that tells the rounds of ``log`` apart.
        runs, seed
            How often it is played, and where the noise and its own randomness come from.
        **settings
            Settings of a policy given by name.
        """
        fields = {"policy": policy, "log": log, "key": key, "runs": runs, "seed": seed}
        found: Replay = self._call(m.ReplayPolicy, **fields, settings=settings)
        return found

    def check(self) -> m.Check:
        """Verify the whole log against its seals and snapshot; an error says what is wrong.

        Opening reads what was told since the last snapshot; this reads everything: every page of an
        SQLite file, the seal of every event, and whether the events fold to what the snapshot says.
        """
        return self._call(m.CheckLog)

    def status(self) -> dict[str, Any]:
        """Return sizes, progress and alerts, as plain values."""
        return self._call(m.Status)

    def watch(self, *, stale: float | None = None) -> list[m.Alert]:
        """Close trials whose time is up, and return the alerts in force.

        Every call that writes does so too, but for two things: whether the pairwise model predicts the
        last rounds, and whether trials have been open for more than ``stale`` seconds, is judged here
        alone. An alert that begins or ends is an event of the history.
        """
        return self._call(m.Watch, stale=stale)

    def forbid(self, agents: Names, arms: Names) -> None:
        """Forbid agents to play arms from now on; None stands for all agents."""
        self._call(m.Forbid, agents=agents, arms=arms)

    def pin(self, agents: Names, arm: Label) -> None:
        """Let agents play only one arm from now on; :meth:`allow` lifts it."""
        self._call(m.Pin, agents=agents, arm=arm)

    def allow(self, agents: Names, arms: Names = None) -> None:
        """Let agents play arms again, all of them when left out."""
        self._call(m.Allow, agents=agents, arms=arms)

    def replace_graph(
        self,
        graph: Graph,
        *,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        features: ArrayLike | None = None,
        edge_counts: ArrayLike | None = None,
        parts: ArrayLike | None = None,
        cut: Cut | None = None,
    ) -> None:
        """Play on another graph and keep what was learnt.

        Agents are the same when they have the same name; they keep their forbidden arms. Open trials
        are told on the graph they were asked on. A policy with a cut gets ``cut``, the best by default
        (refined to k parts where it had k). A fixed allocation is kept by agents' names, so there may be
        no new agents.

        If edges have types, weights or features, those of the new graph must be given as well. Types
        keep their numbers: none may be dropped, new ones may be added, but not if there are contexts.
        A :class:`gbb.Network` in shards comes with its ``edge_counts`` and ``parts``.
        """
        edges = {"edge_types": edge_types, "edge_weights": edge_weights, "features": features}
        edges |= {"edge_counts": edge_counts, "parts": parts}
        self._call(m.ReplaceGraph, graph=graph, edges=edges, cut=cut)

    def set_policy(self, policy: AnyPolicy | str, **settings: Any) -> None:
        """Switch to another policy, or other settings; it starts from everything told so far."""
        self._call(m.SetPolicy, policy=policy, settings=settings)

    def discount(self, factor: float) -> None:
        """Multiply the weight of everything told so far by ``factor``, in (0, 1].

        Each discount below 1 starts the bound on the noise anew. After k of them the policy and all
        intervals therefore have ``delta / ((k + 1) (k + 2))`` in the place of delta, intervals with
        k = 0, too. So all intervals ever hold together with probability 1 - delta, if what was told did
        not decide when and by how much to discount.
        """
        self._call(m.Discount, factor=factor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
