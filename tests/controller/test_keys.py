"""Keys of attached rounds: each mapping sees its own, whatever grew from it."""

from hypothesis import given
from hypothesis import strategies as st

from gbb.controller.state.state import Keys

STEPS = st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=40)


@given(STEPS)
def test_every_branch_is_the_dictionary_it_stands_for(steps):
    """Mappings grow from any earlier one, as when a turn is given up; the naive twin copies."""
    made = [(Keys(), {}, 0)]
    for place, same in steps:
        keys, naive, seq = made[place % len(made)]
        key = "same" if same and "same" not in naive else f"key-{len(made)}"
        made.append((keys.plus(key, seq + 1), {**naive, key: seq + 1}, seq + 1))
    names = {"same", *(f"key-{i}" for i in range(len(made)))}
    for keys, naive, _ in made:
        assert dict(keys) == naive
        assert len(keys) == len(naive)
        assert all(keys.get(name) == naive.get(name) for name in names)


def test_growing_copies_nothing():
    keys = Keys([("a", 1)])
    grown = keys.plus("b", 2).plus("c", 3)
    assert grown._shared is keys._shared
    assert (dict(keys), dict(grown)) == ({"a": 1}, {"a": 1, "b": 2, "c": 3})
