"""Graph: agents and directed edges, both directions of every edge present."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray, frozen, input_error, suggest
from gbb._support.files import atomic
from gbb._support.seeds import Seed
from gbb.graph import build, files, find
from gbb.graph.build import Integers, Rows
from gbb.graph.families import BYTES_PER_EDGE, FAMILIES

if TYPE_CHECKING:
    from scipy import sparse

MAX_NAMES = 12
"""How many agents an error about an unknown name lists."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph of n agents with m directed edges, (i, j) an edge exactly when (j, i) is.

    Build one with a family (``Graph.complete(5)``), :meth:`from_edges`, :meth:`from_networkx`,
    :meth:`from_sparse` or :meth:`read`. A graph never changes and its arrays are read-only.

    Parameters
    ----------
    indptr, indices
        The symmetric pattern in CSR form: the neighbours of agent i, in increasing order, are
        ``indices[indptr[i]:indptr[i + 1]]``.
    names
        Names of the agents, or None when they are known by their numbers.
    positions
        Coordinates of the agents, for pictures (n x 2), or None; they do not count for equality.
    """

    indptr: IntArray
    indices: Integers
    names: tuple[str, ...] | None = None
    positions: FloatArray | None = None

    def __post_init__(self) -> None:
        indptr = np.array(self.indptr, dtype=np.int64)
        n = len(indptr) - 1 if indptr.ndim == 1 else 0
        checks.integer("n", n, low=1, high=build.MAX_AGENTS)
        # Copies of one type each, so that compiled loops have one signature.
        indices: Integers = np.array(self.indices, dtype=build.index_type(n))
        if not build.is_pattern(indptr, indices):
            rule = "be the sorted CSR pattern of a symmetric matrix with a zero diagonal"
            raise input_error("indptr, indices", rule, "another", "Use Graph.from_edges.")
        vars(self).update(indptr=frozen(indptr), indices=frozen(indices))
        vars(self).update(names=checks.names("names", self.names, length=n))
        if self.positions is not None:
            vars(self).update(positions=checks.array("positions", self.positions, shape=(n, 2)))

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike | Iterable[Sequence[Any]],
        *,
        n: int | None = None,
        names: Sequence[str] | None = None,
        undirected: bool = False,
        positions: ArrayLike | None = None,
    ) -> Graph:
        """Build a graph from rows (source, target) of agents' numbers or names.

        Parameters
        ----------
        edges
            An (rows, 2) array of numbers from 0 on, or pairs of names.
        n
            Number of agents; the number of names, or else the largest number plus one.
        names
            Names of the agents; for pairs of names, their order of first appearance by default.
        undirected
            Whether each row stands for both directions. Otherwise both must be among the rows.
        positions
            Coordinates of the agents, in agent order (n x 2), for pictures.
        """
        rows = build.number_rows(edges, n=n, names=names, undirected=undirected)
        return cls._of(rows._replace(positions=positions))

    @classmethod
    def complete(cls, n: int) -> Graph:
        """Every agent linked to every other."""
        return cls.family("complete", n)

    @classmethod
    def circle(cls, n: int) -> Graph:
        """Each agent linked to the next one and the last to the first; ``n >= 3``."""
        return cls.family("circle", n)

    @classmethod
    def star(cls, n: int) -> Graph:
        """Agent 0, the centre, linked to every other."""
        return cls.family("star", n)

    @classmethod
    def matching(cls, n: int) -> Graph:
        """Agents linked in pairs (0, 1), (2, 3), ...; ``n`` is even."""
        return cls.family("matching", n)

    @classmethod
    def path(cls, n: int) -> Graph:
        """Each agent linked to the next one."""
        return cls.family("path", n)

    @classmethod
    def grid(cls, rows: int, cols: int) -> Graph:
        """A rows x cols lattice, its agents numbered row by row."""
        rows = checks.integer("rows", rows, low=1)
        return cls.family("grid", rows * checks.integer("cols", cols, low=1), rows=rows)

    @classmethod
    def random(cls, n: int, p: float = 0.6, seed: Seed = None) -> Graph:
        """Each pair of agents linked independently with probability ``p``."""
        return cls.family("random", n, p=p, seed=seed)

    @classmethod
    def random_regular(cls, n: int, degree: int, seed: Seed = None) -> Graph:
        """A random graph in which every agent has ``degree`` neighbours."""
        return cls.family("regular", n, degree=degree, seed=seed)

    @classmethod
    def family(cls, name: str, n: int, **options: Any) -> Graph:
        """Build the family called ``name``, one of :data:`gbb.graph.FAMILIES`, on ``n`` agents.

        ``options`` are those of the family: ``p`` and ``seed`` of 'random', ``degree`` and
        ``seed`` of 'regular', ``rows`` of 'grid' (square by default). A family without
        randomness ignores ``seed``.
        """
        edges_of = FAMILIES[checks.choice("name", name, FAMILIES)]
        accepted = inspect.signature(edges_of).parameters.keys() - {"n"}
        options = {key: value for key, value in options.items() if key in accepted or key != "seed"}
        checks.known_names(f"The family {name!r}", "option", options, accepted)
        n = checks.integer("n", n, low=1)
        # What n agents take at least, before any array of that length is made.
        checks.require_memory("n", BYTES_PER_EDGE * n)
        return cls._of(Rows(edges_of(n, **options), n, None, undirected=True))

    @classmethod
    def from_networkx(cls, g: Any, *, undirected: bool = False) -> Graph:
        """Build from a networkx Graph, or a DiGraph that holds both directions of every edge.

        ``undirected`` says that each edge of a DiGraph stands for both.

        Nodes that are exactly the numbers 0..n-1 are the agents' numbers; any others become
        names, ``str(node)``, in node order. If every node has ``x`` and ``y``, or a pair ``pos``,
        these are its position. Other data of nodes and edges are left out.
        """
        return cls._of(files.from_networkx(g, undirected=undirected))

    def to_networkx(self) -> Any:
        """Return an undirected ``networkx.Graph`` on the labels, as both directions always exist."""
        import networkx as nx  # noqa: PLC0415

        g = nx.Graph()
        g.add_nodes_from(self.labels)
        if self.positions is not None:
            for label, (x, y) in zip(self.labels, self.positions.tolist(), strict=True):
                g.nodes[label].update(x=x, y=y)
        links = self.edges[self.links].tolist()
        g.add_edges_from((self.labels[i], self.labels[j]) for i, j in links)
        return g

    @classmethod
    def from_sparse(
        cls, matrix: Any, names: Sequence[str] | None = None, *, undirected: bool = False
    ) -> Graph:
        """Build from the non-zeros of a square matrix, sparse or dense, with a zero diagonal.

        Its pattern is symmetric, unless ``undirected`` says that each entry stands for both directions.
        """
        from scipy import sparse  # noqa: PLC0415

        csr: Any = sparse.csr_array(matrix, copy=True)
        csr.sum_duplicates()  # values that cancel are no edge
        if csr.shape[0] != csr.shape[1]:
            raise input_error("matrix", "be square, one row per agent", f"shape {csr.shape}")
        edges = np.column_stack(csr.nonzero())
        return cls.from_edges(edges, n=csr.shape[0], names=names, undirected=undirected)

    def to_sparse(self) -> sparse.csr_array[np.float64, tuple[int, int]]:
        """Return the adjacency matrix, 1 at every edge, in memory of its own."""
        from scipy import sparse  # noqa: PLC0415

        entries = (np.ones(self.m), self.indices, self.indptr)
        return sparse.csr_array(entries, shape=(self.n, self.n), copy=True)

    @classmethod
    def read(cls, path: str | Path, *, undirected: bool = False) -> Graph:
        """Read a ``.csv``, ``.graphml``, ``.json`` (node-link) or ``.txt``/``.gset`` (Gset) file.

        ``undirected`` says that each row of a CSV, or each edge of a GraphML or JSON file declared
        directed, stands for both directions. Positions of nodes in GraphML and JSON (``x`` and ``y``,
        or ``pos``) are kept; weights and other columns are left out, with a warning.

        The header of a CSV names the columns of both ends, in lower or upper case: source,target;
        from,to; src,dst; u,v; i,j; node1,node2; or agent1,agent2. A file whose first row is a pair of
        numbers needs none: its first two columns count.
        """
        with files.one_line_errors("read", path):
            return cls._of(files.read(Path(path), undirected))

    def write(self, path: str | Path) -> None:
        """Write a ``.csv``, ``.graphml`` or ``.json`` file, whole or not at all."""
        with files.one_line_errors("write", path), atomic(path) as temporary:
            suffix = checks.choice("path's suffix", temporary.suffix.lower(), files.WRITERS)
            files.WRITERS[suffix](self, temporary)
            # A CSV has agents in its rows only, and XML no control characters. Numbers always come back.
            with suppress(Exception):
                if (self.names is None and self.degrees.all()) or Graph.read(temporary) == self:
                    return
            rule = f"come back the same from a {suffix} file"
            got = "agents without edges, or names like numbers or with odd characters"
            raise input_error("graph", rule, got, "Write a .json file instead.")

    @classmethod
    def _of(cls, rows: Rows) -> Graph:
        return cls(*build.pattern(rows), rows.names, rows.positions)

    @property
    def n(self) -> int:
        """Number of agents."""
        return len(self.indptr) - 1

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return len(self.indices)

    @cached_property
    def degrees(self) -> IntArray:
        """Number of neighbours of each agent."""
        return frozen(np.diff(self.indptr))

    @cached_property
    def sources(self) -> Integers:
        """Source of each edge; ``indices`` holds the targets."""
        return frozen(np.repeat(np.arange(self.n, dtype=self.indices.dtype), self.degrees))

    @cached_property
    def edges(self) -> Integers:
        """The m x 2 array of (source, target): the graph's edge order."""
        return frozen(np.column_stack((self.sources, self.indices)))

    @cached_property
    def reverse(self) -> IntArray:
        """Position of edge (j, i) for each edge (i, j)."""
        reverse = build.find_reverse(self.indptr, self.indices)
        assert reverse is not None
        return frozen(reverse)

    @cached_property
    def links(self) -> IntArray:
        """Positions of the edges (i, j) with i < j, in edge order: each link once."""
        return frozen(np.flatnonzero(self.sources < self.indices))

    @property
    def labels(self) -> Sequence[str] | Sequence[int]:
        """Names of the agents, or their numbers when they have none."""
        return range(self.n) if self.names is None else self.names

    def label(self, i: int) -> str | int:
        """Name of agent ``i``, or its number when agents have no names."""
        return self.labels[self.index(i)]

    def index(self, agent: str | int) -> int:
        """Number of the agent with this name or number."""
        if self.names is None or not isinstance(agent, str):
            cure = "" if self.names is None else "Pass one of the names instead."
            return find.index("agent", agent, None, self.n, cure)
        if agent not in self._places:
            shown = ", ".join(map(repr, self.names[:MAX_NAMES]))
            more = ", ..." if self.n > MAX_NAMES else ""
            cure = suggest(agent, self.names) or f"Agents are called {shown}{more}."
            raise input_error("agent", "name an agent", repr(agent), cure)
        return self._places[agent]

    def neighbours(self, i: str | int) -> Integers:
        """Numbers of the agents linked to agent ``i``, in increasing order."""
        i = self.index(i)
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def components(self) -> int:
        """Number of connected components."""
        from scipy.sparse import csgraph  # noqa: PLC0415

        # Every edge goes both ways, so strong components need no transposed copy.
        return int(csgraph.connected_components(self.to_sparse(), connection="strong")[0])

    def bipartition(self) -> NDArray[np.int8] | None:
        """Side (0 or 1) of each agent such that every edge crosses, or None if there is none."""
        return self._sides

    def is_bipartite(self) -> bool:
        """Whether some cut crosses every edge."""
        return self.bipartition() is not None

    def is_complete(self) -> bool:
        """Whether every agent is linked to every other."""
        return self.m == self.n * (self.n - 1)

    def is_circle(self) -> bool:
        """Whether the graph is one circle through all the agents."""
        return self.n >= 3 and bool((self.degrees == 2).all()) and self.components() == 1

    @cached_property
    def _sides(self) -> NDArray[np.int8] | None:
        from scipy.sparse import csgraph  # noqa: PLC0415

        # By the distance from the smallest agent of each component, which is on side 0.
        matrix = self.to_sparse()
        component = csgraph.connected_components(matrix, connection="strong")[1]
        roots = np.unique(component, return_index=True)[1]
        distance = csgraph.dijkstra(matrix, unweighted=True, indices=roots, min_only=True)
        sides = (distance % 2).astype(np.int8)
        crossing = sides[self.sources] != sides[self.indices]
        return frozen(sides) if crossing.all() else None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def __repr__(self) -> str:
        if self.names is None:
            return f"Graph(n={self.n}, m={self.m})"
        shown = ", ".join([repr(name) for name in self.names[:3]] + ["..."] * (self.n > 3))
        return f"Graph(n={self.n}, m={self.m}, names=[{shown}])"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        same = self.names == other.names and np.array_equal(self.indptr, other.indptr)
        return same and np.array_equal(self.indices, other.indices)

    def __hash__(self) -> int:
        # The first edges tell graphs apart well enough; all of them may be many.
        return hash((self.n, self.m, self.names, self.indices[:64].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Leaves the cached arrays out and makes the copies read-only again.
        return type(self), (self.indptr, self.indices, self.names, self.positions)
