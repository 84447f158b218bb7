"""Graph: families, edges, order, labels, conversions, and every refusal."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gbb import InputError
from gbb.graph import FAMILIES, Graph, build, families
from graphs import small_graphs

# What files trip over: separators, quotes, comments, numbers, markup, odd spaces, other planes.
ALPHABET = "abN0123 #,;\"'+-._<&>\u00e9\u6f22\u00a0\u2028\u200b\ufeff\U0001f600"

# The first call may compile a kernel, which no deadline should count.
untimed = settings(deadline=None)


@st.composite
def graphs(draw: st.DrawFn, named: bool | None = None, isolated: bool = True) -> Graph:
    n = draw(st.integers(1 if isolated else 2, 9))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    if not isolated:
        touched = {i for pair in chosen for i in pair}
        chosen += [(0, i) for i in range(1, n) if i not in touched]
        chosen += [] if any(0 in pair for pair in chosen) else [(0, 1)]
    with_names = draw(st.booleans()) if named is None else named
    text = st.text(ALPHABET, min_size=1, max_size=5)
    names = draw(st.lists(text, min_size=n, max_size=n, unique=True)) if with_names else None
    return Graph.from_edges(chosen, n=n, names=names, undirected=True)


@pytest.mark.parametrize(
    ("graph", "n", "degrees"),
    [
        (Graph.complete(1), 1, [0]),
        (Graph.star(1), 1, [0]),
        (Graph.path(1), 1, [0]),
        (Graph.grid(1, 1), 1, [0]),
        (Graph.random(6, p=1.0, seed=0), 6, [5] * 6),
        (Graph.random(6, p=0.0, seed=0), 6, [0] * 6),
        (Graph.random(1, seed=0), 1, [0]),
        (Graph.random_regular(10, 3, seed=0), 10, [3] * 10),
    ],
)
def test_families(graph: Graph, n: int, degrees: list[int]) -> None:
    assert graph.n == n
    assert graph.m == sum(degrees)
    assert graph.degrees.tolist() == degrees


@pytest.mark.parametrize(
    ("graph", "twin"),
    [
        (Graph.complete(6), nx.complete_graph(6)),
        (Graph.circle(7), nx.cycle_graph(7)),
        (Graph.star(5), nx.star_graph(4)),
        (Graph.path(5), nx.path_graph(5)),
        (Graph.matching(4), nx.Graph([(0, 1), (2, 3)])),
        (Graph.grid(3, 4), nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))),
    ],
)
def test_families_equal_those_of_networkx(graph: Graph, twin: nx.Graph) -> None:
    assert graph == Graph.from_networkx(twin)


def test_random_has_every_edge_with_probability_p() -> None:
    draws, n, p = 2000, 8, 0.6
    rng = np.random.default_rng(3)
    counts = np.zeros((n, n))
    sizes = np.empty(draws)
    for k in range(draws):
        graph = Graph.random(n, p=p, seed=rng)
        counts += graph.to_sparse().toarray()
        sizes[k] = graph.m / 2
    frequency = counts[np.triu_indices(n, 1)] / draws
    pairs = n * (n - 1) / 2
    assert np.abs(frequency - p).max() < 4.5 * np.sqrt(p * (1 - p) / draws)
    assert abs(sizes.mean() - pairs * p) < 4 * np.sqrt(pairs * p * (1 - p) / draws)
    assert 0.85 < sizes.var() / (pairs * p * (1 - p)) < 1.15


def test_random_is_a_function_of_its_seed() -> None:
    assert Graph.random(30, seed=1) == Graph.random(30, seed=1)
    assert Graph.random(30, seed=1) != Graph.random(30, seed=2)
    assert Graph.random_regular(30, 4, seed=1) == Graph.random_regular(30, 4, seed=1)
    assert Graph.random_regular(30, 4, seed=1) != Graph.random_regular(30, 4, seed=2)


def test_random_works_for_a_million_agents() -> None:
    graph = Graph.random(10**6, p=1e-7, seed=0)
    mean = 10**6 * (10**6 - 1) * 1e-7
    assert abs(graph.m - mean) < 6 * np.sqrt(2 * mean)
    assert graph.indices.max() > 9 * 10**5


@untimed
@given(st.integers(1, 2**31 - 1), st.sampled_from([-2, -1, 0, 1, 2]))
def test_unranking_is_exact_at_any_size(j: int, shift: int) -> None:
    rank = max(0, j * (j - 1) // 2 + shift)
    low, high = families.unrank(np.array([rank]))[0].tolist()
    assert 0 <= low < high
    assert high * (high - 1) // 2 + low == rank


def test_unranking_is_exact_at_the_largest_graph() -> None:
    n = 2**31
    last = n * (n - 1) // 2 - 1
    assert families.unrank(np.array([last])).tolist() == [[n - 2, n - 1]]


@untimed
@given(graphs())
def test_edges_are_sorted_symmetric_and_reversed_by_reverse(graph: Graph) -> None:
    edges = graph.edges.tolist()
    assert edges == sorted(edges)
    assert sorted([j, i] for i, j in edges) == edges
    assert graph.edges[graph.reverse].tolist() == [[j, i] for i, j in edges]
    assert graph.reverse[graph.reverse].tolist() == list(range(graph.m))
    assert graph.sources.tolist() == [i for i, _ in edges]
    assert [graph.neighbours(i).tolist() for i in range(graph.n)] == [
        [j for k, j in edges if k == i] for i in range(graph.n)
    ]


def test_types_and_read_only_arrays() -> None:
    graph = Graph.path(3)
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32
    arrays = [graph.indptr, graph.indices, graph.edges, graph.sources, graph.degrees]
    for array in [*arrays, graph.reverse, graph.neighbours(1), graph.bipartition()]:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(FrozenInstanceError, match="names"):
        graph.names = ("a", "b", "c")  # type: ignore[misc]


def test_graph_does_not_share_the_callers_arrays() -> None:
    edges = np.array([[0, 1], [1, 2]])
    graph = Graph.from_edges(edges, undirected=True)
    edges[:] = 0
    assert graph == Graph.path(3)
    assert edges.flags.writeable
    matrix = graph.to_sparse()
    matrix.indices[:] = 0
    assert graph == Graph.path(3)


@untimed
@given(graphs())
def test_bipartition_agrees_with_networkx(graph: Graph) -> None:
    g = graph.to_networkx()
    sides = graph.bipartition()
    assert graph.is_bipartite() == nx.is_bipartite(g) == (sides is not None)
    assert graph.components() == nx.number_connected_components(g)
    if sides is not None:
        assert sides.dtype == np.int8
        assert sides.shape == (graph.n,)
        assert set(sides.tolist()) <= {0, 1}
        assert (sides[graph.sources] != sides[graph.indices]).all()


def test_shape_predicates() -> None:
    assert Graph.complete(4).is_complete()
    assert Graph.complete(1).is_complete()
    assert not Graph.circle(4).is_complete()
    assert Graph.circle(4).is_circle()
    assert Graph.complete(3).is_circle()
    assert not Graph.path(4).is_circle()
    assert not Graph.matching(2).is_circle()
    triangles = Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], undirected=True)
    assert not triangles.is_circle()
    assert triangles.components() == 2


def test_labels_and_index() -> None:
    plain, named = Graph.path(3), Graph.from_edges([("b", "a"), ("a", "c")], undirected=True)
    assert named.names == ("b", "a", "c")
    assert list(plain.labels) == [0, 1, 2]
    assert tuple(named.labels) == ("b", "a", "c")
    assert (plain.label(2), named.label(2)) == (2, "c")
    assert (plain.index(2), plain.index("2"), named.index("a"), named.index(1)) == (2, 2, 1, 1)
    assert named.neighbours("a").tolist() == [0, 2]


def test_unknown_agents_are_refused_with_a_suggestion() -> None:
    plain, named = Graph.path(3), Graph.from_edges([("north", "south")], undirected=True)
    with pytest.raises(InputError, match=r"`agent` to name an agent.*'nort'\. Did you mean 'north"):
        named.index("nort")
    with pytest.raises(InputError, match=r"`agent`.*<= 1, but got 2\. Pass one of the names"):
        named.index(2)
    with pytest.raises(InputError, match=r"`agent`.*whole number >= 0 and <= 2, but got 'x'"):
        plain.index("x")
    with pytest.raises(InputError, match=r"`agent`.*<= 2, but got 3"):
        plain.index("3")
    with pytest.raises(InputError, match=r"`agent`.*>= 0 and <= 2, but got -1"):
        plain.label(-1)
    with pytest.raises(InputError, match=r"`agent`.*whole number.*1\.5"):
        plain.neighbours(1.5)  # type: ignore[arg-type]


def test_equality_hash_copy_and_pickle() -> None:
    plain = Graph.path(3)
    named = Graph.from_edges(plain.edges, names=["a", "b", "c"])
    assert plain != named
    assert plain != "graph"
    assert len({plain, Graph.path(3), named}) == 2
    for twin in (pickle.loads(pickle.dumps(named)), copy.deepcopy(named)):
        assert twin == named
        assert hash(twin) == hash(named)
        assert not twin.indices.flags.writeable


def test_repr() -> None:
    assert repr(Graph.path(3)) == "Graph(n=3, m=4)"
    named = Graph.from_edges(Graph.path(4).edges, names=list("abcd"))
    assert repr(named) == "Graph(n=4, m=6, names=['a', 'b', 'c', ...])"


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        np.array([[2, 1], [0, 1], [1, 2], [1, 0]], dtype=np.uint64),
        np.array([[2, 1], [0, 1], [1, 2], [1, 0]], dtype=np.int8),
        np.array([[0, 1], [1, 0], [1, 2], [2, 1]], dtype=float),
        np.array([[0, 1], [1, 0], [1, 2], [2, 1]], dtype=object),
        {(0, 1), (1, 0), (1, 2), (2, 1)},
        nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)]).edges,
    ],
)
def test_from_edges_takes_any_rows_of_whole_numbers(edges: object) -> None:
    assert Graph.from_edges(edges) == Graph.path(3)  # type: ignore[arg-type]


def test_small_integer_types_do_not_overflow() -> None:
    edges = np.column_stack((np.arange(126), np.arange(1, 127))).astype(np.int8)
    assert Graph.from_edges(edges, undirected=True) == Graph.path(127)
    assert Graph.circle(np.int8(100)) == Graph.circle(100)
    assert Graph.grid(np.int8(20), np.int8(20)).n == 400


def test_from_edges_with_names() -> None:
    names = ("a", "b", "alone")
    by_number = Graph.from_edges([(0, 1)], names=names, undirected=True)
    by_name = Graph.from_edges([("b", "a")], names=names, undirected=True)
    assert by_number == by_name
    assert by_name.names == names
    assert by_name.degrees.tolist() == [1, 1, 0]
    objects = np.array([["x", "y"], ["y", "x"]], dtype=object)
    assert Graph.from_edges(objects).names == ("x", "y")


def test_from_edges_without_edges() -> None:
    assert Graph.from_edges([], n=3).m == 0
    assert Graph.from_edges(np.empty((0, 2)), names=["a"]).names == ("a",)


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (
            [(0, 1), (1, 0), (1, 2)],
            {},
            r"both directions.*\(1, 2\) at row 2 without the edge back.*undi",
        ),
        ([("a", "b")], {}, r"\('a', 'b'\) at row 0 without the edge back\. Pass undirected=True"),
        ([(0, 1), (2, 2)], {}, r"`edges` to join different agents.*\(2, 2\) at row 1.*self loops"),
        (
            [(0, 1), (1, 0), (0, 1)],
            {},
            r"each edge once.*\(0, 1\) at row 2 after \(0, 1\) at row 0",
        ),
        ([(0, 1), (1, 0)], {"undirected": True}, r"\(1, 0\) at row 1 after.*leave out undirected"),
        ([(0, 1), (0, 1)], {"undirected": True}, r"each edge once.*row 1.*Remove the duplicates"),
        (
            [(0, 3)],
            {"n": 3},
            r"`edges` to hold agents from 0 to 2, but got \(0, 3\) at row 0.*large",
        ),
        ([(0, 1), (-1, 0)], {}, r"agents from 0 to 1, but got \(-1, 0\) at row 1.*Count agents fr"),
        (
            [(0, 3 * 10**9)],
            {},
            r"without large gaps.*got 3000000000 among 1 rows\. Pass n, or turn",
        ),
        ([(0, 2**62)], {"n": 9}, r"agents from 0 to 8, but got \(0, 4611686018427387904\)"),
        ([(0, 1)], {"n": 2**40}, r"`n`.*<= 3037000499, but got 1099511627776"),
        ([(0, 2**70)], {}, r"whole numbers.*\(0, 1180591620717411303424\) at row 0"),
        ([(0, 1, 2)], {}, r"`edges` to have shape \(rows, 2\).*shape \(1, 3\)\."),
        ([[0, 1, 2], [1, 2, 0]], {}, r"shape \(2, 3\)\. Did you mean edges\.T"),
        ([(0, 1), (1,)], {}, r"shape \(rows, 2\).*got \[\(0, 1\), \(1,\)\]"),
        (5, {}, r"shape \(rows, 2\).*got 5"),
        ([(0.0, 1.0), (0.5, 1.0)], {}, r"whole numbers.*\(0\.5, 1\.0\) at row 1"),
        ([(0.0, np.nan)], {}, r"whole numbers.*\(0\.0, nan\) at row 0"),
        ([(0.0, np.inf)], {}, r"whole numbers.*\(0\.0, inf\) at row 0"),
        ([(True, False)], {}, r"whole numbers.*\(True, False\) at row 0"),
        ([(0, None)], {}, r"whole numbers.*\(0, None\) at row 0"),
        ([], {}, r"`n` to be given when `edges` is empty, but got None\. Pass n"),
        ([(0, 1)], {"n": 0}, r"`n` to be a whole number >= 1.*got 0"),
        ([(0, 1)], {"names": ["a"]}, r"agents from 0 to 0, but got \(0, 1\)"),
        ([(0, 1)], {"names": ["a", "b"], "n": 3}, r"`names` to hold 3 names, but got 2"),
        ([(0, 1)], {"names": ["a", "a"]}, r"`names` to hold distinct names.*'a'"),
        (
            [("a", "c")],
            {"names": ["a", "bb"]},
            r"use the given names, but got \('a', 'c'\) at row 0",
        ),
        ([("a", "bbc")], {"names": ["a", "bbb"]}, r"'bbc'\) at row 0\. Did you mean 'bbb'"),
        (
            [("a", "b")],
            {"n": 3},
            r"`names` to hold 3 names, but got 2",
        ),
        ([("a", "")], {"undirected": True}, r"names that are not empty"),
    ],
)
def test_from_edges_refuses(edges: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges(edges, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 1], [0]),
        ([0, 1, 1], [1]),
        ([0, 1, 2], [1, 2]),
        ([0, 2, 3, 4], [2, 1, 0, 0]),
        ([0, 2, 4], [1, 1, 0, 0]),
        ([1, 1, 2], [1, 0]),
        ([0, 1, 3], [1, 0]),
        ([0, 2, 1, 2], [1, 0]),
    ],
)
def test_constructor_refuses_what_is_not_a_symmetric_pattern(
    indptr: list[int], indices: list[int]
) -> None:
    with pytest.raises(InputError, match=r"sorted CSR pattern of a symmetric matrix.*from_edges"):
        Graph(np.array(indptr), np.array(indices))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Graph.complete(0), r"`n`.*>= 1.*got 0"),
        (lambda: Graph.complete(2.5), r"`n`.*whole number.*2\.5"),
        (lambda: Graph.circle(2), r"`n`.*>= 3, but got 2\. The smallest circle"),
        (lambda: Graph.matching(5), r"`n` to be even.*got 5"),
        (lambda: Graph.grid(0, 3), r"`rows`.*>= 1.*got 0"),
        (lambda: Graph.random(5, p=1.5), r"`p`.*<= 1.*got 1\.5"),
        (lambda: Graph.random(5, seed=-1), r"`seed`.*>= 0"),
        (lambda: Graph.random_regular(5, 3), r"`degree` to make n \* degree even \(n = 5\).*got 3"),
        (lambda: Graph.random_regular(5, 5), r"`degree`.*<= 4, but got 5\. It must be below n"),
        (lambda: Graph.family("cirle", 5), r"`name`.*'cirle'\. Did you mean 'circle'"),
        (
            lambda: Graph.family("random", 5, q=1),
            r"The family 'random' has no option 'q'; it has p, seed",
        ),
        (
            lambda: Graph.family("circle", 5, p=1),
            r"The family 'circle' has no option 'p'; it has none",
        ),
        (lambda: Graph.family("regular", 5), r"`degree` to be a whole number .* but got None"),
        (lambda: Graph.family("grid", 8), r"`n` to be rows \* cols.*8 \(rows = 2, cols = 2\)"),
        (lambda: Graph.family("grid", 8, rows=3), r"`n` to be rows \* cols.*perfect square"),
    ],
)
def test_families_refuse(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        build()


def test_families_by_name() -> None:
    options = {"regular": {"degree": 2}}
    for name, family in FAMILIES.items():
        graph = Graph.family(name, 16, seed=4, **options.get(name, {}))
        known = {"seed": 4} if name in ("random", "regular") else {}
        edges = family(16, **known, **options.get(name, {}))
        assert graph == Graph.from_edges(edges, n=16, undirected=True)
    assert Graph.family("grid", 6, rows=2) == Graph.grid(2, 3)
    assert Graph.family("grid", 9) == Graph.grid(3, 3)
    assert Graph.family("random", 9, p=0.3, seed=1) == Graph.random(9, p=0.3, seed=1)


@untimed
@given(graphs())
def test_networkx_round_trip(graph: Graph) -> None:
    g = graph.to_networkx()
    assert isinstance(g, nx.Graph)
    assert not g.is_directed()
    assert list(g) == list(graph.labels)
    assert 2 * g.number_of_edges() == graph.m
    assert Graph.from_networkx(g) == graph
    assert Graph.from_networkx(g.to_directed()) == graph


def test_networkx_labels() -> None:
    shuffled = nx.Graph([(2, 1), (1, 0)])
    assert Graph.from_networkx(shuffled) == Graph.path(3)
    assert Graph.from_networkx(nx.DiGraph([(0, 1), (2, 1)]), undirected=True) == Graph.path(3)
    assert Graph.from_networkx(nx.Graph([(1, 2)])).names == ("1", "2")
    assert Graph.from_networkx(nx.grid_2d_graph(1, 2)).names == ("(0, 0)", "(0, 1)")


@pytest.mark.parametrize(
    ("g", "message"),
    [
        (nx.MultiGraph([(0, 1)]), r"`g` to be a networkx Graph or DiGraph.*MultiGraph\. Convert a"),
        (nx.Graph([("a", "a")]), r"different agents.*\('a', 'a'\)"),
        (nx.DiGraph([("a", "b")]), r"both directions.*\('a', 'b'\) at row 0 without"),
        (nx.Graph(), r"`n` to be a whole number >= 1.*got 0"),
        (nx.Graph([(1, "1")]), r"`node labels` to hold distinct names.*'1'"),
        ([(0, 1)], r"`g` to be a networkx Graph or DiGraph, but got list"),
    ],
)
def test_networkx_refusals(g: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_networkx(g)


@untimed
@given(graphs(), st.sampled_from(["csr", "csc", "coo", "lil"]))
def test_sparse_round_trip(graph: Graph, form: str) -> None:
    matrix = graph.to_sparse()
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.nnz == graph.m
    assert Graph.from_sparse(matrix.asformat(form), names=graph.names) == graph


def test_sparse_zeros_and_unsorted_rows() -> None:
    rows, cols = [0, 1, 1, 2, 0, 2, 0, 0], [1, 0, 2, 1, 2, 0, 0, 1]
    values = [3.0, -1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0]
    assert Graph.from_sparse(sparse.coo_array((values, (rows, cols)))) == Graph.path(3)
    unsorted = sparse.csr_array(([1, 1, 1, 1], [2, 1, 0, 0], [0, 2, 3, 4]), shape=(3, 3))
    assert Graph.from_sparse(unsorted) == Graph.star(3)
    assert unsorted.indices.tolist() == [2, 1, 0, 0]
    assert Graph.from_sparse(unsorted.toarray()) == Graph.star(3)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sparse.csr_array((2, 3)), r"`matrix` to be square.*shape \(2, 3\)"),
        (sparse.eye_array(3), r"join different agents, but got \(0, 0\)"),
        (
            sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])),
            r"both directions.*\(1, 2\) at row 2 without the edge back\. Pass undirected=True",
        ),
    ],
)
def test_sparse_refusals(matrix: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_sparse(matrix)


@pytest.mark.parametrize(
    "build", [lambda n: Graph.from_edges([(0, 1)], n=n, undirected=True), Graph.circle, Graph.star]
)
def test_more_agents_than_fit_into_memory_are_refused_at_once(build, monkeypatch) -> None:
    monkeypatch.setattr("gbb._support.checks.total_memory", lambda: 2.0**34)
    with pytest.raises(InputError, match=r"`n` to fit into this machine's memory of 16 GiB, but"):
        build(10**9)


def test_ten_million_edges_fit_in_memory() -> None:
    program = """
import resource, sys
import numpy as np
from gbb.graph import FAMILIES, Graph

Graph.circle(4)
n = 10**6
edges = np.empty((10 * n, 2), dtype=np.int64)
for k in range(5):
    for side in range(2):
        rows = edges[(2 * k + side) * n : (2 * k + side + 1) * n]
        rows[:, side] = np.arange(n)
        rows[:, 1 - side] = (rows[:, side] + 7**k) % n
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
graph = Graph.from_edges(edges, n=n)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert (graph.n, graph.m) == (n, 10 * n), graph
assert (graph.degrees == 10).all()
unit = 1 if sys.platform == "darwin" else 1024
print((after - before) * unit)
"""
    source = str(Path(sys.modules["gbb.graph"].__file__ or "").parents[2])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1.5e9


@given(small_graphs(), st.booleans())
@settings(deadline=None)
def test_large_graphs_find_reverse_edges_as_small_ones_do(graph: Graph, drop: bool) -> None:
    indptr, indices = graph.indptr, graph.indices
    if drop:
        indptr, indices = np.minimum(indptr, graph.m - 1), indices[:-1]
    found = [build.find_reverse(indptr, indices)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "MIN_EDGES_FOR_SCIPY", -1)
        found.append(build.find_reverse(indptr, indices))
    if drop:
        assert found == [None] * 2
        return
    where = {(i, j): k for k, (i, j) in enumerate(graph.edges.tolist())}
    for positions in found:
        assert positions is not None
        assert positions.tolist() == [where[j, i] for i, j in graph.edges.tolist()]
