import numpy as np
import pytest

from gbb import InputError
from gbb._support import seeds


def test_a_generator_passes_through():
    rng = np.random.default_rng(0)
    assert seeds.generator(rng) is rng


@pytest.mark.parametrize("seed", [5, np.int64(5), np.random.SeedSequence(5)])
def test_equal_seeds_give_equal_generators(seed):
    assert seeds.generator(seed).random() == np.random.default_rng(5).random()


def test_no_seed_gives_fresh_randomness():
    assert seeds.generator(None).random() != seeds.generator(None).random()


def test_the_callers_sequence_is_never_advanced():
    seed = np.random.SeedSequence(3, spawn_key=(1,), pool_size=8)
    first = [child.generate_state(2).tolist() for child in seeds.spawn(seed, 3)]
    again = [child.generate_state(2).tolist() for child in seeds.spawn(seed, 3)]
    own = [child.generate_state(2).tolist() for child in seed.spawn(3)]
    assert first == again == own


def test_children_differ_from_each_other_and_more_children_keep_the_first():
    few, many = seeds.spawn(0, 2), seeds.spawn(0, 5)
    states = [tuple(child.generate_state(4)) for child in many]
    assert len(set(states)) == 5
    assert [tuple(child.generate_state(4)) for child in few] == states[:2]


def test_a_generator_is_asked_for_new_children_each_time():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    one, two = seeds.spawn(rng, 1)[0], seeds.spawn(rng, 1)[0]
    assert tuple(one.generate_state(4)) != tuple(two.generate_state(4))
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("seed", ["0", 1.5, True])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(
        InputError, match="`seed` to be a whole number, a SeedSequence, a Generator"
    ):
        seeds.generator(seed)


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="Expected `seed` to be >= 0, but got -1"):
        seeds.generator(-1)
