"""What the controller's tests share: small problems, and the plain loop that drives one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gbb
from gbb.controller import Controller
from gbb.controller.state.log import Log


def url_of(folder: Path) -> str:
    return f"sqlite:///{folder / 'control.db'}"


def small(*, named: bool = False, n: int = 4, K: int = 3, feedback: str = "edge") -> gbb.Problem:
    """A complete graph with one-hot arms."""
    agents = [f"cell-{i}" for i in range(n)] if named else None
    edges = [(i, j) for i in range(n) for j in range(n) if i != j]
    graph = gbb.Graph.from_edges(edges, n=n, names=agents)
    arms = [f"tilt-{k}" for k in range(K)] if named else None
    return gbb.Problem(graph, np.eye(K), sigma=0.5, S=3.0, arm_names=arms, feedback=feedback)


def environment(problem: gbb.Problem, seed: int = 0) -> gbb.Environment:
    return gbb.Environment(problem, gbb.instances.absolute_normal(problem.d, seed=seed))


def noise_of(seed: int) -> np.random.Generator:
    """The noise that the first run of simulate() faces."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0].spawn(2)[0])


def drive(controller: Controller, env: gbb.Environment, rng, rounds: int) -> np.ndarray:
    """Ask and tell, round after round; the allocations."""
    played = []
    for _ in range(rounds):
        trial = controller.ask()
        played.append(trial.arms)
        controller.tell(trial, env.draw(1, trial.arms, rng))
    return np.array(played)


def replayed(controller: Controller):
    """The state that the log alone gives, without snapshots."""
    log = controller._log
    return Log(log.store, log.study, log.name, replay=True).state


def plain(value) -> object:
    """Anything inside a state, for comparing bit by bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return type(value).__name__, tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def same_links(one, other) -> bool:
    """Whether two problems are on the same graph, with edges of the same types and weights."""
    ours, theirs = ((each.edge_types, each.edge_weights) for each in (one, other))
    return one.graph == other.graph and plain(ours) == plain(theirs)


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
        for name in ("memory", "record", "two_way_record", "open", "recent")
    )
    return (
        fields
        and tables
        and same_problems(one, other)
        and plain(one.setup.allowed) == plain(other.setup.allowed)
        and (one.setup.seq, one.setup.graph_seq) == (other.setup.seq, other.setup.graph_seq)
    )
