"""The layout and the searches of a policy, as kernels take them in a round."""

from __future__ import annotations

from typing import NamedTuple

import gbb
from gbb._kernels.index.buffers import make_counts_search, make_linear_search
from gbb._kernels.index.layout import BY_CONTEXT, Layout
from gbb._kernels.index.search_counts import CountsSearch
from gbb._kernels.index.search_linear import LinearSearch
from gbb.learning.tuples import Tuples
from gbb.policies._compiled import compile_policy


class Searches(NamedTuple):
    """The stacked layout, that of its only row, the tuples, and buffers of searches."""

    stacked: Layout
    layout: Layout
    tuples: Tuples
    linear: LinearSearch
    counts: CountsSearch | None


def searches_of(policy: gbb.policies.IndexPolicy) -> Searches:
    """Return what a policy searches with."""
    compiled = compile_policy(policy)
    assert compiled is not None
    stacked = compiled.layout
    layout = stacked._replace(**{name: getattr(stacked, name)[0] for name in BY_CONTEXT})
    counts = None
    if compiled.bonus is not None and compiled.is_independent:
        counts = make_counts_search(compiled.problem, stacked)
    return Searches(stacked, layout, compiled.tuples, make_linear_search(stacked), counts)
