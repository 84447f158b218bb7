"""The controller: ask what to play, tell what it paid; every call is logged."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.seeds import Seed
from gbb._support.threads import one_thread
from gbb.controller.log.backup import write_backup
from gbb.controller.log.database import NoStorageError
from gbb.controller.log.events import Event
from gbb.controller.log.log import Log, Transaction
from gbb.controller.log.store import KeyedRequest, Store, insert_study, list_studies, refuse_taken
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
from gbb.controller.queries.export import export_columns, export_rows
from gbb.controller.queries.history import find_events, read_history, read_rounds
from gbb.controller.queries.history import read_rewards as read_round_rewards
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.queries.policy_table import PolicyTable, recommend_table
from gbb.controller.queries.status import read_alerts, read_status
from gbb.controller.state.check import check_log
from gbb.controller.state.context import list_contexts, read_row
from gbb.controller.state.fold import KINDS
from gbb.controller.state.replay import open_log
from gbb.controller.state.report import Label
from gbb.controller.verbs import keeping, setup, tell, upkeep
from gbb.controller.verbs.alerts import judge_misfit
from gbb.controller.verbs.ask import append_ask
from gbb.controller.verbs.bulk.attach import Imported, import_rounds
from gbb.controller.verbs.bulk.cells import open_cells
from gbb.controller.verbs.bulk.rounds import read_log
from gbb.controller.verbs.next import next_trial
from gbb.controller.verbs.once import Call, as_one, create_once
from gbb.controller.verbs.retract import finish, prepare
from gbb.controller.verbs.rewards import RewardWarning, open_rewards
from gbb.controller.verbs.setup import Names, list_names
from gbb.controller.verbs.tables import Tables, missing_shards, tell_tables
from gbb.controller.verbs.trials import find_open, find_trial, make_trial
from gbb.cuts import Cut
from gbb.diagnostics import Diagnosis, diagnose
from gbb.graph import Graph
from gbb.policies import AnyPolicy
from gbb.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from gbb.controller.queries.replay import Replay
    from gbb.controller.verbs.rewards import Rewards

Allocation = ArrayLike | Mapping[Any, Any]


class Controller:
    """Chooses the arms of a real network, learns what its links pay, and never forgets.

    Start one with :meth:`create` and reopen it with :meth:`open`, from any process: every call that
    changes something is one transaction of an append-only log, durable once the call returns. An
    object may be shared by the threads of one process.
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    @classmethod
    def create(
        cls,
        url: str | Path,
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
            Settings of a policy given by name, such as ``delta``; the cut is the best by default.
        """
        name, first = _first_event(problem, policy, seed, name=name, **settings)
        store = Store(url, create=True)
        with store.closed_on_error():
            with store.database.write() as connection:
                study = insert_study(connection, name, [first])
            return cls(open_log(store, study, name))

    @classmethod
    def rehearse(cls, url: str | Path, problem: Problem, *rest: Any, **named: Any) -> None:
        """Refuse what :meth:`create` would refuse of the same arguments, and keep nothing."""
        name, _ = _first_event(problem, *rest, **named)
        with suppress(NoStorageError):
            store = Store(url)
            with store.closed_on_error(), store.database.read() as connection:
                refuse_taken(list_studies(connection), name)
            store.close()

    @classmethod
    def create_as(
        cls,
        url: str | Path,
        problem: Problem,
        *rest: Any,
        by: str | None = None,
        key: str | None = None,
        body: bytes = b"",
        **named: Any,
    ) -> Call:
        """Start a controller as :meth:`create` does, once however often it is asked for.

        ``by``, ``key`` and ``body`` are those of :meth:`as_one`; the answer is its status.
        """
        name, first = _first_event(problem, *rest, by=by, **named)
        return create_once(url, name, first, KeyedRequest.of(by, key, body))

    @classmethod
    def open(cls, url: str | Path, name: str | None = None) -> Controller:
        """Open an existing controller; ``name`` may be left out when the database holds only one."""
        store = Store(url)
        with store.closed_on_error():
            return cls(open_log(store, *store.find_study(name)))

    @property
    def name(self) -> str:
        """The controller's name."""
        return self._log.name

    @property
    def problem(self) -> Problem:
        """What is known, on the present graph."""
        return self._log.state.setup.problem

    @property
    def policy(self) -> AnyPolicy:
        """The policy that chooses."""
        return self._log.state.setup.policy

    def ask(self, context: Any = None, *, timeout: float | None = None) -> Trial:
        """Choose the next allocation; the trial stays open until it is told, failed or abandoned.

        ``context`` is what is known before the round, where the problem has contexts. With a
        ``timeout``, a trial that is still open after so many seconds is closed, as played and
        never heard of, by the next call that writes and is not about it, or by :meth:`watch`.
        """
        return self.ask_many(1, context=context, timeout=timeout)[0]

    def ask_many(
        self,
        count: int,
        *,
        context: Any = None,
        contexts: Iterable[Any] | None = None,
        timeout: float | None = None,
    ) -> list[Trial]:
        """Choose ``count`` trials at once, none of them with the others' rewards.

        All in one ``context``, or each in its own of ``contexts``.
        """
        count = checks.integer("count", count, low=1)
        each = list_contexts(count, context, contexts)
        if timeout is not None:
            timeout = checks.real("timeout", timeout, low=0.0, low_open=True)
        with self._turn() as turn:
            first = turn.state.trials + 1
            for known in each:
                row = read_row(turn.state.setup.problem, known)
                append_ask(turn, timeout, row)
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
            out. With ``feedback="link"`` a reward is that of a link, named once by its ends in either
            order, and an array is in the order of the edges (i, j) with i < j. With ``"agent"`` agents
            take the place of links: ``{agent: reward}``, an array in agent order, or the columns agent
            and reward; with ``"global"`` it is one number.
            Trials may be told late and in any order.

        Notes
        -----
        Telling a trial the same again changes nothing; telling it anything else is an error.
        """
        rewards = open_rewards(rewards)
        with self._turn() as turn:
            tell.tell(turn, find_trial(turn, trial), rewards)

    def next(self, trial: Trial | int, rewards: Rewards | Tables, context: Any = None) -> Trial:
        """Tell ``trial`` and ask for another, in one transaction: one wait for the disk, not two.

        Of a network in shards it takes what :meth:`tell_all_tables` does. Both happen or neither. A
        caller that never heard back says the same again and gets the same trial, as long as it is open.
        ``context`` is that of the round to come, as in :meth:`ask`.
        """
        rewards = open_rewards(rewards)
        with self._turn() as turn:
            number = next_trial(turn, find_trial(turn, trial), rewards, context)
        return make_trial(turn.state, number)

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

    def retract(
        self,
        trial: Trial | int | None = None,
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
        while (replay := prepare(self._log, trial, key, event)) is not None:
            with self._turn() as turn:
                if finish(turn, replay, reason):
                    return

    def attach(
        self,
        allocation: Allocation,
        rewards: Rewards,
        *,
        context: Any = None,
        key: str | None = None,
    ) -> None:
        """Learn from a round that was played elsewhere, in its own ``context`` where there are any.

        With a ``key`` of its own, a round counts once however often it is attached, and another round
        under the same key is an error. Without, every call counts. An allocation by name may leave out
        agents that no reward depends on.
        """
        if key is not None and not _is_key(key):
            rule = "be a text on one line that is not empty and has no blanks around it"
            raise checks.input_error("key", rule, repr(key))
        rewards = open_rewards(rewards)
        with self._turn() as turn:
            tell.attach(turn, allocation, rewards, key, context)

    def import_rounds(
        self,
        log: pd.DataFrame | str | Path,
        *,
        key: str | None = None,
        prefix: str = "",
        dry_run: bool = False,
    ) -> Imported:
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
            arms that a reward depends on are needed. Where rounds have contexts, either form has a
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
        cells = open_cells(log)
        problem = self._log.refresh().setup.problem
        rounds = read_log(problem, cells, key, prefix)
        with self._log.read() if dry_run else self._turn() as turn:
            if turn.state.setup.problem.graph is not problem.graph:  # replaced meanwhile
                rounds = read_log(turn.state.setup.problem, cells, key, prefix)
            return import_rounds(turn, rounds, dry_run=dry_run)

    def export_rounds(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Every reward that counts, with its arms: the columns and the rows of a table.

        :meth:`import_rounds` reads it back. Rounds that were attached without a key, and trials, have
        one that says whose they are, so that no controller learns its own rounds twice.
        """
        with self._log.read() as view:
            return export_columns(view.state.setup.problem), list(export_rows(view))

    def recommend(self, context: Any = None, *, seconds: float = 2.0) -> Recommendation:
        """The best allowed allocation by what is known, searched for within ``seconds``."""
        known = self._know(context)
        with one_thread():
            return known.recommend(seconds)

    def recommend_table(
        self, contexts: Iterable[Any] | Mapping[Any, Any], *, seconds: float = 2.0
    ) -> PolicyTable:
        """What is best in each of some ``contexts``: what an operator loads into a plant.

        All of it is of one moment. A mapping has names for the contexts; ``seconds`` are those of each
        search.
        """
        state = self._log.refresh()
        with one_thread():
            return recommend_table(state, contexts, seconds)

    def predict(self, allocation: Allocation, context: Any = None) -> Prediction:
        """The expected global reward of an allocation, with its interval."""
        known = self._know(context)
        with one_thread():
            return known.predict(known.problem.allocation(allocation))

    def _know(self, context: Any) -> Knowledge:
        """What is known of a round with this context."""
        state = self._log.refresh()
        return Knowledge(state, read_row(state.setup.problem, context))

    def estimate(self) -> tuple[Estimate, ...]:
        """What is known of M*, one estimate per edge type; with contexts, of every matrix."""
        known = Knowledge(self._log.refresh())
        with one_thread():
            return known.estimate()

    def history(
        self,
        kind: str | Iterable[str] | None = None,
        *,
        last: int | None = None,
        after: int | None = None,
        before: int | None = None,
        brief: bool = False,
    ) -> list[Entry]:
        """Every event, or those of some kinds, the oldest first.

        Parameters
        ----------
        kind
            The kind, or kinds, of events; all when left out.
        last
            At most so many: the last ones or, where ``after`` is given, the first after it.
        after, before
            Only events after, or before, the one with this number.
        brief
            The first agents of an allocation and how many there are, and the sum of the rewards and how
            many were told, in the place of all of them.
        """
        kinds = {kind} if isinstance(kind, str) else None if kind is None else set(kind)
        for each in kinds or ():
            checks.choice("kind", each, KINDS)
        ends = {"after": after, "before": before}
        given = {
            k: min(checks.integer(k, v, low=0), 1 << 62) for k, v in ends.items() if v is not None
        }
        most = None if last is None else min(checks.integer("last", last, low=1), 1 << 62)
        with self._log.read() as view:
            found = find_events(view.study, kinds, most, **given)
            return list(read_history(view, found, brief=brief))

    def rewards(self, last: int = 100) -> list[RoundReward]:
        """What the ``last`` rounds paid, the oldest first; not those that shards told in tables."""
        last = checks.integer("last", last, low=1)
        with self._log.read() as view:
            return read_round_rewards(view, last)

    def diagnose(self, *, worst: int = 5) -> Diagnosis:
        """Check whether the pairwise model predicts what was told on the present graph."""
        state = self._log.refresh()
        problem = state.setup.problem
        problem.check_agents("problem")
        # Others may write meanwhile, even another graph: the state and the rounds are of one moment.
        until = itertools.takewhile(lambda event: event.seq <= state.seq, self._log.events())
        told = read_rounds(until, problem)
        if len(told.played) == 0:
            raise checks.InputError("No round was told on the present graph: nothing to diagnose.")
        known = told.contexts(problem)
        with one_thread():
            return diagnose(problem, told.played, told.rewards, contexts=known, worst=worst)

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
        from gbb.controller.queries import replay as replays  # noqa: PLC0415  (loads the simulation)

        state = self._log.refresh()
        problem = state.setup.problem
        if log is None:
            until = itertools.takewhile(lambda event: event.seq <= state.seq, self._log.events())
            told = read_rounds(until, problem, unknown=-1)
        else:
            told = read_log(problem, open_cells(log), key, "").tables()
        if len(told.played) == 0:
            raise checks.InputError("No round of the log has a reward: nothing to replay.")
        chosen = setup.choose_other(state, policy, settings)
        with one_thread():
            known = replays.fit(state, told)
            return replays.replay(known, chosen, told, runs=runs, seed=seed)

    def check(self) -> Check:
        """Read the whole log and compare it with all that was kept of it; an error says what is wrong.

        Opening reads what was told since the last snapshot; this reads everything: every page of an
        SQLite file, the seal of every event, and whether the events fold to what the snapshot says.
        """
        state, snapshot, pages = check_log(self._log)
        return Check(state.seq, state.rounds, snapshot, pages)

    def status(self) -> dict[str, Any]:
        """The controller's sizes and progress, as plain values."""
        state = self._log.refresh()
        return {"name": self.name, "url": self._log.store.shown, **read_status(state)}

    def watch(self, *, stale: float | None = None) -> list[Alert]:
        """Look after the controller: close trials whose time is up, and say which alerts are in force.

        Every call that writes does so too, but for two things: whether the pairwise model predicts the
        last rounds, and whether trials have been open for more than ``stale`` seconds, is judged here
        alone. An alert that begins or ends is an event of the history.
        """
        if stale is not None:
            stale = checks.real("stale", stale, low=0.0)
        with self._log.read() as view:
            misfit = judge_misfit(view)
        with self._turn() as turn:
            upkeep.watch(turn, stale, misfit)
        return read_alerts(turn.state)

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

        Where edges have types, weights or features, those of the new graph must be given as well. Types
        keep their numbers: none may be dropped, new ones may be added, but not where there are contexts.
        A :class:`gbb.Network` in shards comes with its ``edge_counts`` and ``parts``.
        """
        with self._turn() as turn:
            links = {"edge_types": edge_types, "edge_weights": edge_weights, "features": features}
            setup.replace_graph(turn, graph, cut, links, edge_counts=edge_counts, parts=parts)

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

    def backup(self, path: str | Path) -> int:
        """Write the whole log to a file of JSON lines, as it is now, while others may write.

        :func:`gbb.controller.restore` makes the same controller of it again, bit for bit. The answer is
        the number of events. The file appears whole or not at all.
        """
        return write_backup(self._log.store, path, self.name)[self.name]

    def copy(self, name: str, to: str | Path | None = None) -> Controller:
        """A copy under another name, or in another storage (``to``, a URL).

        It has all events of this one, bit for bit. From then on each goes its own way.
        """
        keeping.copy(self._log, name, to)
        return Controller.open(self._log.store.url if to is None else to, name)

    def rename(self, name: str) -> None:
        """Give the controller another name.

        Programs that have it open under the old name are told so at their next call.
        """
        with self._turn() as turn:
            keeping.rename(self._log, turn, name)

    def delete(self, name: str) -> None:
        """Remove the controller and its whole log for good; ``name`` must repeat its name."""
        keeping.delete(self._log, name)
        self.close()

    def _append(self, kind: str, **content: Any) -> None:
        """Append an event that says all there is to say."""
        with self._turn() as turn:
            turn.append(kind, content)

    @contextmanager
    def as_one(
        self, *, by: str | None = None, key: str | None = None, body: bytes = b""
    ) -> Iterator[Call]:
        """Make everything that the block does one transaction: for services, which are asked twice.

        Parameters
        ----------
        by
            Who does it: every event of the block says so.
        key, body
            A request's own key, and what it says. The ``answer`` that the block gives the call is kept
            with its events for an hour. If the same request comes again, the call has that answer from
            the start and is ``repeated``, and the block should do nothing; another request under the
            same key is an error.

        Notes
        -----
        Other writers wait meanwhile. Warnings about rewards stand in the answer, as ``warnings``.
        """
        with as_one(self._log, by, KeyedRequest.of(by, key, body)) as call:
            yield call

    def head(self) -> int:
        """The number of the last event: what changes whenever anything does."""
        with self._log.read() as view:
            return view.state.seq

    @contextmanager
    def _turn(self) -> Iterator[Transaction]:
        """Append events in one transaction."""
        with self._log.write() as turn:
            yield turn
            upkeep.look_after(turn)
        if self._log.joined is not None:
            return  # it has not happened yet
        # Now that it is kept: a warning may be an exception to the caller.
        for text in turn.warnings:
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
    by: str | None = None,
    **settings: Any,
) -> tuple[str, Event]:
    """The name of a controller and the event that its log starts with; refuses what cannot be played."""
    setup.check_name(name)
    return name, setup.make_first(problem, policy, seed, settings, by)


def _is_key(key: Any) -> bool:
    """Whether a table can hold it, and gives the same back: blanks around cells do not count there."""
    return isinstance(key, str) and bool(key) and key == key.strip() and key.isprintable()
