"""The contracts notice what breaks them."""

import subprocess
import sys

import numpy as np
import pytest

import gbb
from gbb.learning import observe
from gbb.policies import Choice, ImprovedOFUL, UniformRandom
from gbb.testing import PROBLEMS, cut_contract, noise_contract, policy_contract, solver_contract

PLAIN, SUMS = PROBLEMS["general arms"], PROBLEMS["feedback per agent"]
FORBIDDEN = PROBLEMS["allowed arms"]


class Careless(UniformRandom):
    """Plays the first arm, whether it may or not."""

    def select(self, state, rng):  # noqa: ARG002
        return Choice(np.zeros(self.problem.n, dtype=np.int64))


class Global(UniformRandom):
    """Draws from a generator of its own."""

    drawn = np.random.default_rng(0)

    def select(self, state, rng):  # noqa: ARG002
        return Choice(self.drawn.integers(self.problem.K, size=self.problem.n))


class Trusting(UniformRandom):
    """Takes any rewards."""

    def update(self, state, choice, rewards):  # noqa: ARG002
        return state + 1


class Forgetful(ImprovedOFUL):
    """Learns nothing from records."""

    def update(self, state, choice, rewards):
        return super().absorb(state, choice, observe(self.problem, choice.allocation, rewards))

    def absorb(self, state, choice, seen, *, rounds=1):  # noqa: ARG002
        return state


class Meddler(UniformRandom):
    """Changes what it is handed."""

    def update(self, state, choice, rewards):
        choice.allocation[0] = (choice.allocation[0] + 1) % self.problem.K
        return super().update(state, choice, rewards)


class Shy(UniformRandom):
    """Claims every problem and refuses some."""

    def __init__(self, problem, *, name=None):
        super().__init__(problem, name=name)
        if not problem.is_paper_problem:
            raise gbb.InputError("Not that one.")


@pytest.mark.parametrize(
    ("kind", "test", "problem"),
    [
        (Careless, "it_chooses_arms_that_are_allowed_and_couples_agree_with_them", FORBIDDEN),
        (Global, "same_seed_same_run", PLAIN),
        (Forgetful, "absorbing_the_record_of_a_round_is_updating", SUMS),
        (Meddler, "arguments_are_not_modified", PLAIN),
    ],
)
def test_a_policy_that_breaks_the_contract_is_noticed(kind, test, problem):
    good, bad = policy_contract(kind.__mro__[1])(), policy_contract(kind)()
    getattr(good, f"test_{test}")(good.build(problem))
    with pytest.raises(AssertionError):
        getattr(bad, f"test_{test}")(bad.build(problem))


def test_a_policy_that_takes_bad_rewards_is_noticed():
    contract = policy_contract(Trusting)()
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        contract.test_bad_rewards_are_refused(contract.build(SUMS), 0)


def test_a_policy_that_refuses_what_it_claims_is_noticed():
    with pytest.raises(gbb.InputError, match="Not that one"):
        policy_contract(Shy)().test_it_plays_what_it_claims_and_refuses_other_problems(SUMS)


def test_a_cut_of_too_few_edges_is_noticed():
    contract = cut_contract(lambda graph, *, seed=None: gbb.Cut.of(graph, [0] * graph.n))  # noqa: ARG005
    with pytest.raises(AssertionError):
        contract().test_it_cuts_half_of_the_edges_or_more_and_counts_them()


def test_an_optimum_that_claims_a_proof_it_has_not_is_noticed():
    def first(pairs, _budget, _rng):
        return gbb.optimum.Optimum.of(pairs, pairs.allowed.argmax(axis=1), "first")

    with pytest.raises(AssertionError):
        solver_contract(first)().test_an_answer_is_true_or_none(PLAIN)


@pytest.mark.parametrize(
    ("law", "test"),
    [
        (lambda rng, size: rng.standard_normal(size) + 0.1, "it_is_centred"),
        (lambda rng, size: 2.0 * rng.standard_normal(size), "it_is_sub_gaussian_with_scale_1"),
        (lambda rng, size: np.random.standard_normal(size), "same_seed_same_draws"),  # noqa: ARG005, NPY002
        (lambda rng, size: rng.standard_normal((size, 1)), "it_draws_as_many_finite_numbers"),
    ],
    ids=["off centre", "too wide", "another generator", "shape"],
)
def test_a_law_that_breaks_the_contract_is_noticed(law, test):
    contract = noise_contract(law)()
    [name] = [each for each in dir(contract) if each.startswith(f"test_{test}")]
    with pytest.raises(AssertionError):
        getattr(contract, name)()


def test_without_pytest_it_says_what_to_install():
    code = "import sys; sys.modules['pytest'] = None; import gbb.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert (
        "gbb.testing needs pytest, which gbb itself does not. Install it: pip install pyt" in said
    )
