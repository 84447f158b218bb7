"""What the controller's tests share: small problems, and the plain loop that drives one."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np

import gbb
from gbb.contexts import EdgeFeatures, EdgeTypes, Regimes, Vector
from gbb.controller import Controller
from gbb.controller.commands.trials import append_ask
from gbb.controller.log.log import Transaction
from gbb.controller.state.replay import FOLDING, open_log


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'control.db'}"


CONTEXTS = {
    "regimes": Regimes(["day", "night"]),
    "vector": Vector(["wind", "load"]),
    "edge types": EdgeTypes(["near", "far"]),
    "edge features": EdgeFeatures(2),
}
"""A kind of contexts each."""


def small(
    *,
    named: bool = False,
    n: int = 4,
    K: int = 3,
    feedback: str = "edge",
    contexts: str | None = None,
) -> gbb.Problem:
    """A complete graph with one-hot arms."""
    agents = [f"cell-{i}" for i in range(n)] if named else None
    edges = [(i, j) for i in range(n) for j in range(n) if i != j]
    graph = gbb.Graph.from_edges(edges, n=n, names=agents)
    arms = [f"tilt-{k}" for k in range(K)] if named else None
    given = {"feedback": feedback, "contexts": None if contexts is None else CONTEXTS[contexts]}
    return gbb.Problem(graph, np.eye(K), sigma=0.5, S=3.0, arm_names=arms, **given)


def environment(problem: gbb.Problem, seed: int = 0) -> gbb.Environment:
    if problem.contexts is None:
        return gbb.Environment(problem, gbb.instances.absolute_normal(problem.d, seed=seed))
    each = range(problem.types)
    M = [gbb.instances.absolute_normal(problem.d, seed=seed * problem.types + g) for g in each]
    return gbb.Environment(problem, np.array(M))


def context_for(problem: gbb.Problem, number: int):
    """The context of a round by its number, some of which come again; None where there are none."""
    rng = np.random.default_rng(number % 5)
    draw = {
        "regimes": lambda: str(rng.choice(["day", "night"])),
        "vector": lambda: rng.uniform(-1.0, 1.0, 2).tolist(),
        "edge types": lambda: rng.integers(-1, 2, problem.m),
        "edge features": lambda: rng.uniform(-1.0, 1.0, (problem.m, 2)),
    }
    return None if problem.contexts is None else draw[problem.contexts.kind]()


def pay(env: gbb.Environment, trial, rng) -> np.ndarray:
    """The rewards of a trial, in its own context."""
    system = env if trial.context is None else env.during([trial.context])
    return system.draw(1, trial.arms, rng)


def noise_of(seed: int) -> np.random.Generator:
    """The noise that the first run of simulate() faces."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0].spawn(2)[0])


def drive(controller: Controller, env: gbb.Environment, rng, rounds: int) -> np.ndarray:
    """Ask and tell, round after round; the allocations."""
    played = []
    for _ in range(rounds):
        trial = controller.ask(context_for(controller.problem, controller._log.state.trials + 1))
        played.append(trial.arms)
        controller.tell(trial, pay(env, trial, rng))
    return np.array(played)


def replayed(controller: Controller):
    """The state that the log alone gives, without snapshots."""
    log = controller._log
    return open_log(log.store, log.study, log.name, replay=True).state


def next_ask(state):
    """What a state would ask, without a log."""
    event = append_ask(Transaction(None, state, FOLDING))
    return event.content, event.data


def plain(value) -> object:
    """Anything inside a state, for comparing bit by bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    if isinstance(value, tuple):
        return type(value).__name__, tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def same_links(one, other) -> bool:
    """Whether two problems are on the same graph, with edges of the same types and weights."""
    links = ("edge_types", "edge_weights", "features", "edge_counts", "parts")
    ours, theirs = (
        plain({name: each.settings().get(name) for name in links}) for each in (one, other)
    )
    return one.graph == other.graph and ours == theirs and repr(one) == repr(other)


def same_problems(one, other) -> bool:
    """Whether two states have the same graphs and links, now and where open trials were asked."""
    ours, theirs = one.past_problems, other.past_problems
    return (
        same_links(one.setup.problem, other.setup.problem)
        and ours.keys() == theirs.keys()
        and all(same_links(ours[seq], theirs[seq]) for seq in ours)
    )


def same_state(one, other) -> bool:
    """Whether two states are the same to the last bit."""
    names = ("seq", "seal", "rng", "rounds", "trials", "out_of_bounds_rounds", "keys", "alerts")
    fields = all(getattr(one, name) == getattr(other, name) for name in names)
    tables = all(
        plain(getattr(one, name)) == plain(getattr(other, name))
        for name in ("memory", "record", "open", "recent")
    )
    return (
        fields
        and tables
        and same_problems(one, other)
        and plain(one.setup.allowed) == plain(other.setup.allowed)
        and (one.setup.seq, one.setup.graph_seq) == (other.setup.seq, other.setup.graph_seq)
    )
