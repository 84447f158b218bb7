"""What the fixtures are about: the problems, and what a controller or a simulation says of them.

Shared by ``fixtures/make.py``, which wrote down what the version before said, and ``test_fixtures.py``,
which asks this one. Only public names, so that both versions can be asked.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np

import gbb
from gbb.controller import Controller, RewardWarning

FOLDER = Path(__file__).parent / "fixtures"
LOGS = FOLDER / "logs.db.gz"
ANSWERS = FOLDER / "answers.json"
RUNS = FOLDER / "runs.json"
CORPUS = FOLDER / "corpus"

NAMES = ["west", "north", "east", "south"]
LINKS = [
    ("west", "north"),
    ("north", "east"),
    ("east", "south"),
    ("south", "west"),
    ("west", "east"),
]
ONE_HOT = np.eye(3)
GENERAL = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])

PAPER = {
    "ImprovedOFUL": {},
    "OFUL": {"radius": "symmetric"},
    "JointOFUL": {},
    "KCutOFUL": {},
    "ThompsonSampling": {},
    "EpsilonGreedy": {},
    "ExploreThenCommit": {"exploration": 4},
    "PhasedExploration": {"epsilon": 0.5},
    "UniformRandom": {},
    "FixedAllocation": {"allocation": [0, 1, 2, 1]},
}
"""Policies of the logs on the paper's problem, and their settings."""

BEYOND = {
    "ImprovedOFUL": {},
    "JointOFUL": {"radius": "complete"},
    "ThompsonSampling": {},
    "EpsilonGreedy": {},
}
"""Policies of the logs on other problems."""

SIMULATED = {
    **PAPER,
    "ExploreThenCommit": {"horizon": 40},
    "LowRankExploreThenCommit": {"horizon": 40},
    "Conservative": {"baseline": [0, 0, 0, 0]},
    "DiscountedOFUL": {},
    "SlidingWindowOFUL": {"window": 10},
    "ExponentialWeights": {"horizon": 40},
}
"""Policies of the simulations on the paper's problem."""

ARMS = {"one-hot": ONE_HOT, "general": GENERAL}
KINDS = ("typed", "own", "weighted", "agent", "global", "allowed")


def links_of(graph: gbb.Graph, kind: str) -> dict[str, object]:
    """The types and weights of a graph's edges in a kind of problem."""
    sums = (graph.sources + graph.indices).astype(np.int64)
    links: dict[str, dict[str, object]] = {
        "typed": {"edge_types": sums % 2},
        "own": {"edge_types": "source"},
        "weighted": {"edge_weights": np.where(sums % 3 == 0, -0.5, 2.0)},
        "agent": {"edge_types": sums % 2, "edge_weights": np.where(sums % 3 == 0, 0.5, 1.0)},
        "global": {"edge_types": sums % 2},
    }
    return links.get(kind, {})


def problem_of(kind: str) -> gbb.Problem:
    """The paper's problem (by the kind of its arms), or one of another kind."""
    graph = gbb.Graph.from_edges(LINKS, names=NAMES, undirected=True)
    allowed = np.ones((4, 3), dtype=bool)
    allowed[1, 0] = allowed[3, 2] = False
    more: dict[str, dict[str, object]] = {
        "agent": {"feedback": "agent", "allowed": allowed},
        "global": {"feedback": "global"},
        "allowed": {"allowed": allowed},
    }
    settings = {**links_of(graph, kind), **more.get(kind, {})}
    arms = ARMS.get(kind, GENERAL)
    names = ["straight", "left", "right"]
    return gbb.Problem(graph, arms, sigma=0.3, S=3.0, arm_names=names, **settings)


def environment_of(problem: gbb.Problem) -> gbb.Environment:
    """Positive matrices, so that every instance has a positive optimum."""
    shape = (problem.types, problem.d, problem.d) if problem.types > 1 else (problem.d,) * 2
    return gbb.Environment(problem, np.random.default_rng(7).uniform(0.1, 1.0, shape))


def policy_of(name: str, problem: gbb.Problem, settings: dict[str, object]) -> gbb.policies.Policy:
    """A policy over the greedy cut."""
    return gbb.policies.build(name, problem, cut=gbb.cuts.greedy(problem.graph), **settings)


def rewards_of(problem: gbb.Problem, arms: np.ndarray) -> np.ndarray:
    """A round's rewards, a function of the arms alone."""
    place = np.arange(problem.observations)
    played = float(np.dot(arms, 1.0 + np.arange(len(arms))))
    return 0.5 + 0.5 * np.cos(1.7 * place + played)


def _tell(controller: Controller, trial: gbb.controller.Trial) -> None:
    controller.tell(trial, rewards_of(controller.problem, trial.arms))


def _some(problem: gbb.Problem, arms: np.ndarray) -> object:
    """Some of a round's rewards by name: one link both ways and one one way, or two agents."""
    full = rewards_of(problem, arms)
    if problem.feedback == "global":
        return float(full[0])
    if problem.feedback == "agent":
        return {"north": full[1], "south": full[3]}
    links = [("west", "north"), ("north", "west"), ("east", "south")]
    return {link: 0.25 * place for place, link in enumerate(links)}


def story(controller: Controller, kind: str, policy: str, settings: dict[str, object]) -> None:
    """Two dozen events of all kinds; two or three trials stay open."""
    first, second, third = controller.ask_many(3)
    _tell(controller, second)
    controller.tell(first, _some(controller.problem, first.arms))
    controller.attach([0, 1, 1, 0], rewards_of(controller.problem, np.zeros(4)), key="day 1")
    controller.attach([1, 2, 0, 1], _some(controller.problem, np.zeros(4)))
    controller.forbid(["west"], ["left"])
    wrong, failed = controller.ask_many(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RewardWarning)
        controller.tell(wrong, 1e3 * rewards_of(controller.problem, wrong.arms))
    controller.retract(wrong, "typed in wrong")
    controller.fail(failed)
    controller.discount(0.75)
    controller.pin("south", "left")
    _tell(controller, wrong)
    if policy != "FixedAllocation":
        controller.set_policy("UniformRandom")
        _tell(controller, controller.ask())
        controller.set_policy(policy, **settings)
    grown = policy != "FixedAllocation"
    names = [*NAMES, "mill"] if grown else NAMES
    links = [*LINKS[:4], ("east", "mill")] if grown else LINKS[:4]
    graph = gbb.Graph.from_edges(links, names=names, undirected=True)
    controller.replace_graph(graph, **links_of(graph, kind))
    controller.allow("west")
    controller.tell(third, _some(controller.problem, third.arms))  # late, of the graph before
    _tell(controller, controller.ask())
    controller.abandon(controller.ask(), "no time")
    controller.ask_many(2)


def answers(controller: Controller) -> dict[str, object]:
    """What a controller says without being changed, in plain values."""
    problem = controller.problem
    newer = ("url", "alerts")  # which the version before does not say, or says of another place
    status = {key: value for key, value in controller.status().items() if key not in newer}
    events = [[each.seq, each.kind, each.trial_id, each.content] for each in controller.history()]
    text = json.dumps(events, sort_keys=True, default=str)
    best = controller.recommend()
    predictions = [controller.predict(arms) for arms in allocations_of(problem)]
    return {
        "status": status,
        "history": hashlib.sha256(text.encode()).hexdigest(),
        "open": [[each.id, each.round, each.arms.tolist()] for each in controller.open_trials()],
        "predict": [[each.reward, each.low, each.high, each.caveat] for each in predictions],
        "recommend": {
            "arms": best.arms.tolist(),
            "numbers": [best.reward, best.low, best.high, best.upper_bound],
            "proven": best.proven,
        },
        "estimate": [_estimate(each) for each in controller.estimate()],
    }


def _estimate(estimate: gbb.controller.Estimate) -> dict[str, object]:
    names = ("M_hat", "M_width", "table", "table_width", "N", "Y")
    tables = {name: getattr(estimate, name) for name in names}
    return {name: None if table is None else table.tolist() for name, table in tables.items()}


def allocations_of(problem: gbb.Problem) -> list[np.ndarray]:
    """Two allocations to predict."""
    agents = np.arange(problem.n)
    return [agents % problem.K, (2 * agents + 1) % problem.K]


def kept(controller: Controller) -> dict[str, object]:
    """What a log says, whatever is made of it: events, counts, what was told, and what is open."""
    names = ("name", "agents", "edges", "arms", "rounds", "trials", "open", "events", "forbidden")
    rounds = controller.history(("ask", "tell", "attach", "fail", "abandon"))
    text = json.dumps(
        [[each.seq, each.kind, each.trial_id, each.content] for each in rounds], sort_keys=True
    )
    tables = [(each.N, each.Y) for each in controller.estimate()]
    return {
        "status": {name: value for name, value in controller.status().items() if name in names},
        "policy": type(controller.policy).__name__,
        "rounds": hashlib.sha256(text.encode()).hexdigest(),
        "open": [[each.id, each.round, each.arms.tolist()] for each in controller.open_trials()],
        "told": [[None if x is None else x.tolist() for x in pair] for pair in tables],
    }


def asks(controller: Controller) -> list[list[int]]:
    """The next three asks, and the two that follow once they are told."""
    trials = controller.ask_many(3)
    for trial in trials:
        controller.tell(trial, rewards_of(controller.problem, trial.arms))
    return [trial.arms.tolist() for trial in (*trials, *controller.ask_many(2))]


def runs(kind: str, policy: str, settings: dict[str, object], method: str) -> dict[str, object]:
    """Allocations and regrets of a simulation at its recorded rounds."""
    env = environment_of(problem_of(kind))
    chosen = policy_of(policy, env.problem, settings)
    found = gbb.simulate(
        env, chosen, rounds=40, runs=2, seed=5, record=10, keep_allocations=True, method=method
    )
    return {
        "round": found["round"].values.tolist(),
        "allocation": found["allocation"].isel(policy=0).values.tolist(),
        "regret": found["regret"].isel(policy=0).values.tolist(),
    }


def simulations() -> dict[str, tuple[str, str, dict[str, object], str]]:
    """The arguments of :func:`runs` of every simulation, by name."""
    paper = [
        (kind, policy, settings, method)
        for kind in ARMS
        for policy, settings in SIMULATED.items()
        for method in ("engine", "reference")
    ]
    beyond = [
        (kind, policy, settings, "reference")
        for kind in KINDS
        for policy, settings in BEYOND.items()
    ]
    return {" ".join((kind, *rest[:1], rest[2])): (kind, *rest) for kind, *rest in paper + beyond}
