"""Index policies: a learner, an index and a search."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gbb.cuts import Cut
from gbb.learning.record import AnyRecord
from gbb.policies._index import Index
from gbb.policies._learner import RidgeLearner
from gbb.policies._policy import DERIVED, Choice, RecordPolicy
from gbb.policies._search import Search


class IndexPolicy(RecordPolicy[Any]):
    """Plays the allocation with the best index that its search finds.

    The *learner* turns the record into a posterior, the *index* values an allocation under it,
    and the *search* looks for the best allocation. All three are settings without a problem. The
    compiled engine plays every combination of the parts of this package; a policy with a part of its
    own, or a method of its own, is played by the reference loop.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts whose tuples of arms the search compares, or starts from; the best cut by default.
    """

    cut: Cut = DERIVED

    cut_parts: ClassVar[int | None] = None  # a tuple has an arm for each part, however many
    requires = ""
    plays_shards = True
    estimates_scales = True

    @cached_property
    def cache(self) -> dict[str, Any]:
        """What the engine makes of this policy, once for all runs; neither copied nor pickled."""
        return {}

    @property
    @abstractmethod
    def learner(self) -> RidgeLearner:
        """How it learns."""

    @property
    @abstractmethod
    def index(self) -> Index:
        """What it maximises."""

    @property
    @abstractmethod
    def search(self) -> Search:
        """How it looks for the best allocation."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # Here, or what does not fit the problem would be noticed in the first round.
        for part in (self.learner, self.index, self.search):
            part.check(self.problem)

    @property
    def guarantee(self) -> str | None:
        # The theorems take sigma and S at their word.
        return None if self.problem.unknown or not self.index.proven else self.theorem

    def init(self) -> Any:
        return self.learner.init(self.problem)

    def select(self, state: Any, rng: np.random.Generator) -> Choice:
        from gbb.policies._compiled import compile_choice  # noqa: PLC0415  (which knows this class)

        posterior, compiled = self.learner.posterior(self.problem, state), compile_choice(self)
        if compiled is None or not compiled.is_searched:
            return self.index.choose(posterior, self.search, rng)
        from gbb.policies._game import choose  # noqa: PLC0415  (loads numba)

        return choose(compiled, posterior, rng)

    def absorb(
        self, state: Any, choice: Choice | None, record: AnyRecord, *, rounds: int = 1
    ) -> Any:
        return self.learner.update(self.problem, state, record, rounds)
