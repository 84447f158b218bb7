"""Graph: agents and directed edges, both directions of every edge present."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray, frozen, input_error, suggest
from gbb._support.seeds import Seed
from gbb.graph import _families, _io
from gbb.graph._pattern import find_reverse, index_type, is_pattern, pattern
from gbb.graph._rows import MOST_AGENTS, Integers, Rows, number_rows

if TYPE_CHECKING:
    from scipy import sparse

FEW_NAMES = 12
"""So many agents are listed where a name is unknown."""


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
        Where the agents stand, for pictures (n x 2), or None. Two graphs are equal wherever they stand.
    """

    indptr: IntArray
    indices: Integers
    names: tuple[str, ...] | None = None
    positions: FloatArray | None = None

    def __post_init__(self) -> None:
        indptr = np.array(self.indptr, dtype=np.int64)
        n = len(indptr) - 1 if indptr.ndim == 1 else 0
        checks.integer("n", n, low=1, high=MOST_AGENTS)
        indices: Integers = np.array(self.indices, dtype=index_type(n))
        if not is_pattern(indptr, indices):
            rule = "be the sorted CSR pattern of a symmetric matrix with a zero diagonal"
            raise input_error("indptr, indices", rule, "another", "Use Graph.from_edges.")
        object.__setattr__(self, "indptr", frozen(indptr))
        object.__setattr__(self, "indices", frozen(indices))
        object.__setattr__(self, "names", checks.names("names", self.names, length=n))
        if self.positions is not None:
            stand = checks.array("positions", self.positions, shape=(n, 2))
            object.__setattr__(self, "positions", stand)

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
            Where the agents stand, in agent order (n x 2), for pictures.
        """
        rows = number_rows(edges, n=n, names=names, undirected=undirected)
        if positions is None:
            return cls._of(rows)
        return cls._of(rows._replace(positions=checks.array("positions", positions)))

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
        cols = checks.integer("cols", cols, low=1)
        return cls.family("grid", rows * cols, rows=rows, cols=cols)

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
        """Build the family called ``name`` on ``n`` agents.

        ``options`` are those of the family: ``p`` and ``seed`` of 'random', ``degree`` and
        ``seed`` of 'regular', ``rows`` and ``cols`` of 'grid' (square by default). A family without
        randomness ignores ``seed``.
        """
        edges = _families.family(name, n, options)
        return cls._of(Rows(edges, operator.index(n), None, undirected=True))

    @classmethod
    def families(cls) -> Mapping[str, Callable[..., Graph]]:
        """Name of every family and a function of ``n`` and its options that builds it."""
        return MappingProxyType({name: partial(cls.family, name) for name in _families.FAMILIES})

    @classmethod
    def from_networkx(cls, g: Any, *, undirected: bool = False) -> Graph:
        """Build from a networkx Graph, or a DiGraph that holds both directions of every edge.

        ``undirected`` says that each edge of a DiGraph stands for both.

        Nodes that are exactly the numbers 0..n-1 are the agents' numbers; any others become
        names, ``str(node)``, in node order. Where every node has ``x`` and ``y``, or a pair ``pos``,
        these are its position. Other data of nodes and edges are left out.
        """
        from gbb.graph._networkx import from_networkx  # noqa: PLC0415

        return cls._of(from_networkx(g, undirected=undirected))

    def to_networkx(self) -> Any:
        """Give an undirected ``networkx.Graph`` on the labels, as both directions always exist."""
        from gbb.graph._networkx import to_networkx  # noqa: PLC0415

        return to_networkx(self)

    @classmethod
    def from_sparse(cls, matrix: Any, names: Sequence[str] | None = None) -> Graph:
        """Build from the non-zeros of a square sparse matrix: symmetric pattern, zero diagonal."""
        from gbb.graph._sparse import from_sparse  # noqa: PLC0415

        return cls(*from_sparse(matrix, names))

    def to_sparse(self) -> sparse.csr_array[np.float64, tuple[int, int]]:
        """Give the adjacency matrix, ones where there is an edge."""
        from gbb.graph._sparse import to_sparse  # noqa: PLC0415

        return to_sparse(self)

    @classmethod
    def read(cls, path: str | Path, *, undirected: bool = False) -> Graph:
        """Read a ``.csv``, ``.graphml``, ``.json`` (node-link) or ``.txt``/``.gset`` (Gset) file.

        ``undirected`` says that each row of a CSV, or each edge of a GraphML or JSON file declared
        directed, stands for both directions. Positions of nodes in GraphML and JSON (``x`` and ``y``,
        or ``pos``) are kept; weights and other columns are left out.

        A CSV may have a header, whose columns are then found by name, in lower or upper case:
        source,target; from,to; src,dst; u,v; i,j; node1,node2; or agent1,agent2. Without a header
        the first two columns count.
        """
        with _io.explain_errors("read", path):
            return cls._of(_io.load(Path(path), undirected))

    def write(self, path: str | Path) -> None:
        """Write a ``.csv``, ``.graphml`` or ``.json`` file, whole or not at all."""
        with _io.explain_errors("write", path):
            _io.save(self, Path(path))

    @classmethod
    def _of(cls, rows: Rows) -> Graph:
        return cls(*pattern(rows), rows.names, rows.positions)

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
        found = find_reverse(self.indptr, self.indices)
        assert found is not None
        return frozen(found)

    @property
    def labels(self) -> Sequence[str] | Sequence[int]:
        """Names of the agents, or their numbers when they have none."""
        return range(self.n) if self.names is None else self.names

    def label(self, i: int) -> str | int:
        """Name of agent ``i``, or its number when agents have no names."""
        return self.labels[self.index(i)]

    def index(self, agent: str | int) -> int:
        """Number of the agent with this name or number."""
        if isinstance(agent, str):
            if self.names is None:
                rule = f"be a number from 0 to {self.n - 1}, as agents have no names"
                number = int(agent) if agent.isascii() and agent.isdigit() else -1
                if not 0 <= number < self.n:
                    raise input_error("agent", rule, repr(agent))
                return number
            if agent not in self._places:
                cure = suggest(agent, self.names) or _list_names(self.names)
                raise input_error("agent", "name an agent", repr(agent), cure)
            return self._places[agent]
        cure = "" if self.names is None else "Pass one of the names instead."
        return checks.integer("agent", agent, low=0, high=self.n - 1, cure=cure)

    def neighbours(self, i: str | int) -> Integers:
        """Numbers of the agents linked to agent ``i``, in increasing order."""
        i = self.index(i)
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def components(self) -> int:
        """Number of connected components."""
        from gbb.graph._sparse import count_components  # noqa: PLC0415

        return count_components(self)

    def bipartition(self) -> NDArray[np.int8] | None:
        """Side (0 or 1) of each agent such that every edge crosses, or None if there is none."""
        return self._sides if len(self._sides) else None

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
    def _sides(self) -> NDArray[np.int8]:
        from gbb.graph._bipartite import two_colouring  # noqa: PLC0415

        return frozen(two_colouring(self.indptr, self.indices))

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
        return hash((self.n, self.m, self.names, self.indices[:64].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Leaves the cached arrays out and makes the copies read-only again.
        return type(self), (self.indptr, self.indices, self.names, self.positions)


def _list_names(names: tuple[str, ...]) -> str:
    """All names where they are few, else the first."""
    if len(names) > FEW_NAMES:
        return f"The first of {len(names):,} is called {names[0]!r}."
    return f"Agents are called {', '.join(map(repr, names))}."
