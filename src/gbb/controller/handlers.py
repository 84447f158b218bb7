"""What carries out each request: a function of a state, or of a transaction that it never opens."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from gbb._support import checks
from gbb.contexts.base import as_iterable
from gbb.controller import messages as m
from gbb.controller.commands import alerts, retract, setup, trials
from gbb.controller.commands.attach import attach
from gbb.controller.commands.import_rounds import import_rounds
from gbb.controller.commands.rounds import Cells, read_log
from gbb.controller.commands.tables import tell_tables
from gbb.controller.graph_spec import cut_setting
from gbb.controller.log.log import Log, Transaction
from gbb.controller.queries import history
from gbb.controller.queries.export import export_rounds
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.queries.status import read_alerts
from gbb.controller.queries.table import recommend_each
from gbb.controller.state.check import check_log
from gbb.controller.state.context import list_contexts, read_row
from gbb.controller.state.fold import KINDS
from gbb.controller.state.state import State
from gbb.controller.types import read_count
from gbb.diagnostics import Diagnosis, diagnose

LAST = 1 << 62
"""More events than any log has: databases take no larger numbers."""


class Outdated(Exception):  # noqa: N818
    """What was prepared does not fit the log any more: others wrote meanwhile."""


class Handler(NamedTuple):
    """How a request is carried out.

    Attributes
    ----------
    apply
        From the state, or a transaction, and the request to the response; and from what was prepared.
    needs
        The state alone, one moment of the log, or a transaction that writes.
    prepare
        What is done before, while others go on writing: parse a file, replay for a retraction.
    """

    apply: Callable[..., Any]
    needs: Literal["state", "read", "write"] = "write"
    prepare: Callable[[Log, Any], Any] | None = None


def _ask(transaction: Transaction, request: m.Ask) -> list[m.Trial]:
    several = None if request.contexts is None else as_iterable(request.contexts)
    count = request.count
    if count is None:  # as many as there are contexts
        several = None if several is None else list(several)
        count = 1 if several is None else read_count("contexts", len(several))
    each = list_contexts(count, request.context, several)
    return trials.ask(transaction, each, request.timeout)


def _progress(transaction: Transaction, trial: int | None = None) -> m.Progress:
    state = transaction.state
    return m.Progress(state.rounds, len(state.open), trial)


def _tell(transaction: Transaction, request: m.Tell) -> m.Progress:
    trial = trials.find_trial(transaction, request.trial)
    trials.tell(transaction, trial, request.rewards)
    return _progress(transaction, trial)


def _tell_tables(transaction: Transaction, request: m.TellTables) -> m.Progress:
    trial = trials.find_trial(transaction, request.trial)
    tell_tables(transaction, trial, request.tables)
    return _progress(transaction, trial)


def _next(transaction: Transaction, request: m.Next) -> m.Trial:
    trial = trials.find_trial(transaction, request.trial)
    tell = trials.tell if transaction.state.setup.problem.parts is None else tell_tables
    return trials.next_trial(transaction, trial, request.rewards, request.context, tell)


def _close(transaction: Transaction, request: m.Fail | m.Abandon) -> m.Progress:
    trial = trials.find_trial(transaction, request.trial)
    trials.close(transaction, trial, request.verb, request.reason)
    return _progress(transaction, trial)


def _prepare_retract(log: Log, request: m.Retract) -> retract.ReplayWithout | None:
    return retract.prepare(log, request.trial, request.key, request.event)


def _retract(
    transaction: Transaction, request: m.Retract, replay: retract.ReplayWithout | None
) -> m.Progress:
    if replay is not None and not retract.finish(transaction, replay, request.reason):
        raise Outdated
    trial = request.trial.id if isinstance(request.trial, m.Trial) else request.trial
    return _progress(transaction, trial)


def _attach(transaction: Transaction, request: m.Attach) -> m.Progress:
    attach(transaction, request.allocation, request.rewards, request.key, request.context)
    return _progress(transaction)


def _read_rounds(log: Log, request: m.ImportRounds) -> Any:
    """Read the rounds of a file on the present graph, before the lock."""
    problem, cells = log.refresh().setup.problem, Cells(request.log)
    return cells, read_log(problem, cells, request.key, request.prefix)


def _import(transaction: Transaction, request: m.ImportRounds, read: Any) -> m.Imported:
    cells, rounds = read
    problem = transaction.state.setup.problem
    if problem.graph is not rounds.problem.graph:  # replaced meanwhile
        rounds = read_log(problem, cells, request.key, request.prefix)
    return import_rounds(transaction, rounds, dry_run=request.dry_run)


def _open(state: State, request: m.Open) -> list[m.Trial]:
    if request.trial is not None:
        return [trials.make_trial(state, trials.find_open(state, request.trial))]
    return [trials.make_trial(state, id) for id in sorted(state.open)]


def _know(state: State, context: Any) -> Knowledge:
    """Return what is known of a round with this context."""
    return Knowledge(state, read_row(state.setup.problem, context))


def _predict(state: State, request: m.Predict) -> m.Prediction:
    known = _know(state, request.context)
    return known.predict(known.problem.allocation(request.allocation))


def _history(view: Transaction, request: m.History) -> list[m.Entry]:
    kinds = None if request.kind is None else set(request.kind)
    for each in kinds or ():
        checks.choice("kind", each, KINDS)
    ends = {"after": request.after, "before": request.before}
    ends = {
        name: min(checks.integer(name, seq, low=0), LAST)
        for name, seq in ends.items()
        if seq is not None
    }
    last = None if request.last is None else min(request.last, LAST)
    found = history.find_events(view.study, kinds, last, **ends)
    return list(history.read_history(view, found, brief=request.brief))


def _logged(log: Log, request: m.Diagnose | m.ReplayPolicy) -> tuple[State, Any]:
    """Return the state and the rounds told on its graph, of one moment: others write meanwhile."""
    state = log.refresh()
    problem = state.setup.problem
    if isinstance(request, m.Diagnose):
        problem.check_agents("problem")
    elif request.log is not None:
        return state, read_log(problem, Cells(request.log), request.key, "").logged()
    until = itertools.takewhile(lambda event: event.seq <= state.seq, log.events())
    unknown = 0 if isinstance(request, m.Diagnose) else -1
    return state, history.read_rounds(until, problem, unknown=unknown)


def _diagnose(_: State, request: m.Diagnose, read: tuple[State, Any]) -> Diagnosis:
    state, told = read
    if len(told.played) == 0:
        raise checks.InputError("No round was told on the present graph: nothing to diagnose.")
    problem = state.setup.problem
    known = told.contexts(problem)
    return diagnose(problem, told.played, told.rewards, contexts=known, worst=request.worst)


def _replay(_: State, request: m.ReplayPolicy, read: tuple[State, Any]) -> Any:
    from gbb.controller.queries import replay  # noqa: PLC0415  (loads the simulation)

    state, told = read
    if len(told.played) == 0:
        raise checks.InputError("No round of the log has a reward: nothing to replay.")
    chosen = setup.choose_other(state, request.policy, request.settings)
    known = replay.fit(state, told)
    return replay.replay(known, chosen, told, runs=request.runs, seed=request.seed)


def _prepare_check(log: Log, _: m.CheckLog) -> m.Check:
    state, snapshot, pages = check_log(log)
    return m.Check(state.seq, state.rounds, snapshot, pages)


def _prepare_watch(log: Log, _: m.Watch) -> str | None:
    with log.read() as view:
        return alerts.judge_misfit(view)


def _watch(transaction: Transaction, request: m.Watch, misfit: str | None) -> list[m.Alert]:
    alerts.watch(transaction, request.stale, misfit)
    return read_alerts(transaction.state)


def _change(transaction: Transaction, request: m.Forbid | m.Pin | m.Allow) -> int:
    arms = [request.arm] if isinstance(request, m.Pin) else request.arms
    transaction.append(request.verb, {"agents": request.agents, "arms": arms})
    allowed = transaction.state.setup.allowed
    return 0 if allowed is None else int((~allowed).sum())


def _discount(transaction: Transaction, request: m.Discount) -> float:
    transaction.append("discount", {"factor": request.factor})
    return request.factor


def _set_policy(transaction: Transaction, request: m.SetPolicy) -> str:
    graph = transaction.state.setup.problem.graph
    cut = cut_setting(request.cut, graph)
    setup.set_policy(transaction, request.policy, {**request.settings, **cut})
    return transaction.state.setup.policy.name


def _replace_graph(transaction: Transaction, request: m.ReplaceGraph) -> tuple[int, int]:
    setup.replace_graph(transaction, request.graph, request.cut, request.edges)
    graph = transaction.state.setup.problem.graph
    return graph.n, graph.m


HANDLERS: dict[type[m.Request[Any]], Handler] = {
    m.Ask: Handler(_ask),
    m.Tell: Handler(_tell),
    m.TellTables: Handler(_tell_tables),
    m.Next: Handler(_next),
    m.Fail: Handler(_close),
    m.Abandon: Handler(_close),
    m.Retract: Handler(_retract, prepare=_prepare_retract),
    m.Attach: Handler(_attach),
    m.ImportRounds: Handler(_import, prepare=_read_rounds),
    m.ExportRounds: Handler(lambda view, _: export_rounds(view), "read"),
    m.Open: Handler(_open, "state"),
    m.Recommend: Handler(lambda s, r: _know(s, r.context).recommend(r.seconds), "state"),
    m.Table: Handler(lambda s, r: recommend_each(s, list(r.contexts), r.seconds), "state"),
    m.Predict: Handler(_predict, "state"),
    m.GetEstimate: Handler(lambda state, _: Knowledge(state).estimate(), "state"),
    m.Watch: Handler(_watch, prepare=_prepare_watch),
    m.History: Handler(_history, "read"),
    m.GetRewards: Handler(lambda view, r: history.read_rewards(view, r.last), "read"),
    m.Diagnose: Handler(_diagnose, "state", _logged),
    m.ReplayPolicy: Handler(_replay, "state", _logged),
    m.CheckLog: Handler(lambda _, __, found: found, "state", _prepare_check),
    m.Forbid: Handler(_change),
    m.Pin: Handler(_change),
    m.Allow: Handler(_change),
    m.Discount: Handler(_discount),
    m.SetPolicy: Handler(_set_policy),
    m.SetPolicyByName: Handler(_set_policy),
    m.ReplaceGraph: Handler(_replace_graph),
}
"""How each request is carried out."""
