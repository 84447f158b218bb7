"""Every cut method keeps the contract."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb.testing.plugins import check_cut_method, cut_contract
from strategies import graphs

METHODS = gbb.cuts.methods()

for name, method in METHODS.items():
    globals()[f"Test_{name}"] = cut_contract(method)


def test_the_papers_cut_is_listed():
    assert METHODS["greedy"] is gbb.cuts.greedy


@pytest.mark.parametrize("name", METHODS)
@given(graph=graphs(max_n=9), seed=st.integers(0, 2**32))
def test_at_least_half_of_any_graph_is_cut(name, graph, seed):
    check_cut_method(METHODS[name], graph, seed)
