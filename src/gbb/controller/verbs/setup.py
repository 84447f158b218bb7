"""What is played, by whom and with which arms: the events that set it up and change it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.seeds import Seed
from gbb.controller.state.log import Turn
from gbb.controller.state.network import (
    Network,
    Spec,
    encode_network,
    encode_problem,
    encode_seed,
    make_problem,
    replace_network,
)
from gbb.controller.state.policy import choose_policy, encode_policy, move_policy
from gbb.controller.state.report import Label
from gbb.controller.storage.events import Draft
from gbb.cuts import Cut, KCut
from gbb.graph import Graph
from gbb.policies import AnyPolicy
from gbb.problem import Problem

Names = Label | Iterable[Label] | None


def check_name(name: str) -> None:
    """Refuse what cannot name a controller."""
    if not isinstance(name, str) or not name.strip():
        raise checks.input_error("name", "be a text that is not empty", repr(name))
    try:
        name.encode()
    except UnicodeEncodeError:
        raise checks.input_error("name", "be a text that UTF-8 can hold", ascii(name)) from None


def draft_create(problem: Problem, policy: AnyPolicy | str, seed: Seed, settings: Spec) -> Draft:
    """The first event, which says all it takes to play."""
    if not isinstance(problem, Problem):
        raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
    chosen = choose_policy(policy, problem, settings)
    child = seeds.spawn(seed, 1)[0].spawn(2)[1]  # as the first run of gbb.simulate
    content = {
        "problem": encode_problem(problem),
        "graph": encode_network(Network.of(problem)),
        "policy": encode_policy(chosen),
        "seed": encode_seed(child),
    }
    return Draft("create", content)


def replace_graph(
    turn: Turn,
    graph: Graph,
    edge_types: ArrayLike | None,
    edge_weights: ArrayLike | None,
    cut: Cut | KCut | None,
) -> None:
    """Play on another graph."""
    if not isinstance(graph, Graph):
        raise checks.input_error("graph", "be a gbb.Graph", type(graph).__name__)
    setup = turn.state.setup
    problem = replace_network(setup.base, setup.problem, graph, edge_types, edge_weights)
    spec = move_policy(setup.spec, setup.problem.graph, problem, cut)
    turn.append(Draft("graph", {"graph": encode_network(Network.of(problem)), "policy": spec}))


def set_policy(turn: Turn, policy: AnyPolicy | str, settings: Spec) -> None:
    """Let another policy choose."""
    setup = turn.state.setup
    if isinstance(policy, str):
        # By name: on the problem that it will play.
        network = turn.state.network
        problem, _ = make_problem(setup.base, network, {"kind": policy}, setup.allowed)
    else:
        problem = setup.problem
    chosen = choose_policy(policy, problem, settings)
    turn.append(Draft("policy", {"policy": encode_policy(chosen)}))


def change_arms(turn: Turn, kind: str, agents: Names, arms: Names) -> None:
    """``forbid``, ``pin`` or ``allow`` arms."""
    turn.append(Draft(kind, {"agents": list_names(agents), "arms": list_names(arms)}))


def list_names(names: Names) -> list[Label] | None:
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
