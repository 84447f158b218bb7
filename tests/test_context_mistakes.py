"""Mistakes with contexts, each refused on one line that names the rule and the cure."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import gbb
from gbb.contexts import EdgeFeatures, EdgeTypes, Regimes, Vector

GRAPH = gbb.Graph.from_edges([("west", "north"), ("north", "east")], undirected=True)
HOURS = Regimes(["morning", "noon"])
M = np.full((2, 2, 2), 0.1)


def problem(contexts: Any = None) -> gbb.Problem:
    return gbb.Problem(GRAPH, np.eye(2), sigma=0.1, S=1.0, contexts=contexts)


def refusal(call: Any) -> str:
    with pytest.raises(gbb.InputError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("contexts", "context", "said"),
    [
        (HOURS, None, "'noon', but got None. Pass the regime of the round."),
        (HOURS, ["noon"], "one of 'morning', 'noon', but got ['noon']."),
        (HOURS, float("nan"), "one of 'morning', 'noon', but got nan."),
        (Vector(2), None, "Pass what is observed before the round."),
        (
            EdgeTypes(["near", "far"]),
            {("west", "north"): ("near", 1.0, 2)},
            "one of 'far', 'near', but got ('near', 1.0, 2)",
        ),
        (EdgeTypes(["near", "far"]), ["near"] * 3 + ["fer"], "Did you mean 'far'?"),
        (
            EdgeTypes(["near", "far"]),
            "near",
            "but got str. Pass the type of every edge in this round.",
        ),
    ],
)
def test_a_wrong_context_says_what_it_should_be(contexts: Any, context: Any, said: str) -> None:
    assert said in refusal(lambda: problem(contexts).at(context))


def test_types_of_all_edges_may_be_names() -> None:
    here = problem(EdgeTypes(["near", "far"]))
    named = here.at(["far", "near", "near", "far"])
    assert named.edge_types.tolist() == here.at([1, 0, 0, 1]).edge_types.tolist()


@pytest.mark.parametrize("kind", [EdgeTypes, EdgeFeatures])
def test_a_link_whose_directions_are_alike_is_named_once(kind: Any) -> None:
    said = "near" if kind is EdgeTypes else [1.0, 0.5]
    here = problem(kind(["near", "far"], symmetric=True))
    once = here.at({("north", "west"): said}).edges
    both = here.at({("west", "north"): said, ("north", "west"): said}).edges
    for name in ("edge", "type", "weight"):
        assert np.array_equal(getattr(once, name), getattr(both, name))


@pytest.mark.parametrize("contexts", ["noon", 3, None])
def test_a_simulation_says_how_contexts_are_given(contexts: Any) -> None:
    env = gbb.Environment(problem(HOURS), M)
    policy = gbb.policies.UniformRandom(env.problem)
    text = refusal(lambda: gbb.simulate(env, policy, rounds=2, contexts=contexts))
    assert "`contexts`" in text
    assert "list" in text


def test_contexts_without_an_end_are_taken_as_far_as_there_are_rounds() -> None:
    env = gbb.Environment(problem(HOURS), M)
    policy = gbb.policies.UniformRandom(env.problem)
    played = gbb.simulate(env, policy, rounds=4, contexts=itertools.cycle(["noon", "morning"]))
    assert played.sizes["round"] == 4


def test_an_environment_without_contexts_has_none_to_be_at() -> None:
    env = gbb.Environment(problem(), M[0])
    assert "there are no contexts" in refusal(lambda: env.at("noon"))
    assert env.at(None) is env


def test_what_wants_a_context_says_where_it_is_given() -> None:
    env = gbb.Environment(problem(HOURS), M)
    assert "env.at(context)" in refusal(lambda: env.expected_reward([0, 0, 0]))
    policy = gbb.policies.UniformRandom(env.problem)
    assert "policy.at(context)" in refusal(lambda: env.problem.edges)
    assert "env.at(context)" in refusal(lambda: gbb.theory.report(env, cut=gbb.cuts.greedy(GRAPH)))
    assert "gbb.contexts.Regimes(['morning', 'noon'])" in refusal(
        lambda: problem(["morning", "noon"])
    )
    assert policy.problem is env.problem


def test_a_norm_that_is_too_large_is_said_once() -> None:
    with pytest.warns(gbb.environment.BoundWarning):
        env = gbb.Environment(problem(HOURS), 10 * M)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.during(["noon"])


def test_contexts_without_an_end_are_no_list() -> None:
    endless = itertools.cycle(["noon"])
    said = refusal(lambda: gbb.Environment(problem(HOURS), M, contexts=endless))
    assert "simulate(contexts=...)" in said


def test_as_many_contexts_as_trials_are_asked_for(tmp_path: Any) -> None:
    with gbb.Controller.create(f"sqlite:///{tmp_path}/c.db", problem(HOURS), "JointOFUL") as made:
        assert "list of contexts, but got 3" in refusal(lambda: made.ask_many(2, contexts=3))
        endless = itertools.cycle(["noon"])
        assert "each of 2 trials, but got more" in refusal(
            lambda: made.ask_many(2, contexts=endless)
        )
        assert made.status()["trials"] == 0


def test_a_diagnosis_wants_the_contexts_of_its_rounds() -> None:
    said = refusal(lambda: gbb.diagnose(problem(HOURS), np.zeros((9, 3), int), np.zeros((9, 4))))
    assert "`contexts` to be given" in said
