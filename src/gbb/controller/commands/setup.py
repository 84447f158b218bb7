"""What is played, by whom and with which arms: the events that set it up and change it."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from gbb import policies
from gbb._support import checks, seeds
from gbb._support.checks import InputError
from gbb._support.seeds import Seed
from gbb.controller.commands.trials import CLOSING
from gbb.controller.log.codec import dumps
from gbb.controller.log.events import Event, seal
from gbb.controller.log.log import Transaction
from gbb.controller.state import specs
from gbb.controller.state.fold import read_arms
from gbb.controller.state.replay import problem_at
from gbb.controller.state.specs import Spec, choose_policy, encode_policy, move_arms, move_policy
from gbb.controller.state.state import State
from gbb.cuts import Cut
from gbb.graph import Graph
from gbb.policies import AnyPolicy
from gbb.problem import Problem


def check_name(name: str) -> None:
    """Refuse what cannot name a controller."""
    if not isinstance(name, str) or not name.strip():
        raise checks.input_error("name", "be a text that is not empty", repr(name))
    try:
        name.encode()
    except UnicodeEncodeError:
        raise checks.input_error("name", "be a text that UTF-8 can hold", ascii(name)) from None


def make_first(
    problem: Problem, policy: AnyPolicy | str, seed: Seed, settings: Spec, by: str | None = None
) -> Event:
    """The first event, which says all it takes to play; refuses what cannot be played."""
    if not isinstance(problem, Problem):
        raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
    chosen = choose_policy(policy, problem, settings)
    child = seeds.spawn(seed, 1)[0].spawn(2)[1]  # as the first run of gbb.simulate
    content = {
        "problem": specs.encode_problem(problem),
        "graph": specs.encode_graph(problem),
        "policy": encode_policy(chosen),
        "seed": specs.encode_seed(child),
    }
    text = dumps(content if by is None else {**content, "by": by})
    return seal(Event(1, "create", None, time.time(), text, b"", 0), 0)


def replace_graph(
    transaction: Transaction,
    graph: Graph,
    cut: Cut | None,
    edges: Mapping[str, ArrayLike | None],
) -> None:
    """Play on another graph, whose links are known as those of the present one are.

    What was learnt of a type stays with its number: none may go. With contexts none may come either, as
    the matrices of a regime are as many as the types.
    """
    if not isinstance(graph, Graph):
        raise checks.input_error("graph", "be a gbb.Graph", type(graph).__name__)
    setup, old = transaction.state.setup, transaction.state.setup.problem
    edge_types = edges.get("edge_types")
    for name in old.settings().keys() & {"edge_types", "edge_weights", "features"}:
        if edges.get(name) is None:
            rule = "be given for the new graph, as the present one has them"
            raise checks.input_error(name, rule, "None", "Pass one for each directed edge.")
    if isinstance(edge_types, str) and not _own_types_stay(old, graph):
        rule = "be numbers unless each agent had its own type and agents keep their places"
        raise checks.input_error("edge_types", rule, repr(edge_types), "Types go on by number.")
    new = specs.build_problem(setup.base, graph, **edges)
    _check_form(old, new)
    if new.types < old.types:
        raise InputError(
            f"`edge_types` must keep all {old.types} types, because data was recorded for them, "
            f"but got {new.types}."
        )
    if new.types > old.types and old.contexts is not None:
        rule = f"make {old.types} matrices, as many as there are, where there are contexts"
        raise checks.input_error("edge_types", rule, new.types, "Create another controller.")
    spec = move_policy(setup.spec, old.graph, new, cut)
    content = {"graph": specs.encode_graph(new), "policy": spec}
    transaction.append("graph", {**content, **_in_play(transaction, spec, graph)})


def _check_form(old: Problem, new: Problem) -> None:
    """Refuse links of another form: what they tell is in tables where their directions are alike."""
    if new.tabular == old.tabular:
        return
    cure = "Create another controller for them."
    if old.tabular:
        back, types = new.graph.reverse, new.settings().get("edge_types", np.zeros(new.m))
        same_types = np.array_equal(types, types[back])
        rule = "be the same in both directions of every link, as on the present graph"
        name = "edge_weights" if same_types else "edge_types"
        raise checks.input_error(name, rule, "a link whose directions differ", cure)
    rule = "differ between the directions of some link, as on the present graph"
    raise checks.input_error("edge_weights", rule, "all links alike in type and weight", cure)


def _own_types_stay(old: Problem, graph: Graph) -> bool:
    """Whether agent i's own matrix is agent i's on ``graph`` too."""
    types = old.settings().get("edge_types")
    own = types is not None and np.array_equal(types, old.graph.sources)
    return own and list(graph.labels[: old.n]) == list(old.graph.labels)


def set_policy(transaction: Transaction, policy: AnyPolicy | str, settings: Spec) -> None:
    """Let another policy choose."""
    chosen = choose_other(transaction.state, policy, settings)
    spec = encode_policy(chosen)
    transaction.append(
        "policy", {"policy": spec, **_in_play(transaction, spec, chosen.problem.graph)}
    )


def choose_other(state: State, policy: AnyPolicy | str, settings: Spec) -> AnyPolicy:
    """A policy for the problem that is played now."""
    setup = state.setup
    problem = setup.problem
    if isinstance(policy, str):  # by name: on the problem that it will play
        problem = specs.restrict(problem, policy, setup.allowed)
    return choose_policy(policy, problem, settings)


def _in_play(transaction: Transaction, spec: Spec, graph: Graph) -> Spec:
    """What the agents of ``graph`` play now, for a policy that must not change too many at once.

    That is the last trial that was not abandoned; nothing is said where there is none, or where it is
    not about all of these agents.
    """
    if not issubclass(policies.find(spec["kind"]), policies.AccountingPolicy):
        return {}
    for trial in range(transaction.state.trials, 0, -1):
        events = transaction.study.events_of(trial)
        ends = [event.kind for event in events if event.kind in (*CLOSING, "retract")]
        if "abandon" in ends[-1:]:
            continue
        problem = problem_at(transaction, events[0].seq)
        if not set(graph.labels) <= set(problem.graph.labels):
            return {}
        arms = move_arms(problem.graph, read_arms(events[0], problem), graph, spec["kind"])
        return {"last": np.array(arms, dtype=np.int64)}
    return {}
