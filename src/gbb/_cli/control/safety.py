"""A policy held back by a baseline, as the command line says it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from gbb._cli.control.files import allocation_from
from gbb._cli.errors import reword
from gbb._cli.options import option
from gbb._support import checks
from gbb.policies import AnyPolicy, Conservative, RecordPolicy


@dataclass(frozen=True, kw_only=True)
class Safety:
    """What must not be lost while a policy learns."""

    panel: ClassVar[str] = "Safety"

    baseline: Annotated[
        Path | None,
        option(
            "An allocation that is known to work, CSV of agent and arm or JSON {agent: arm}: never "
            "to earn much less than it.",
            metavar="FILE",
        ),
    ] = None
    eps: Annotated[
        float | None, option("Share of the baseline's reward that may be lost, (0, 1].", 0.03)
    ] = None
    max_changes: Annotated[
        int | None, option("Agents that may change their arm from one round to the next.", "all")
    ] = None
    floor: Annotated[
        float | None, option("The least that one number of a round pays on average.", "none")
    ] = None
    baseline_reward: Annotated[
        float | None, option("What the baseline pays a round, over all edges.", "estimated")
    ] = None
    shared_noise: Annotated[
        bool, option("The numbers of one round may be off together, as by one wind.")
    ] = False

    @property
    def is_given(self) -> bool:
        """Whether anything is said about it."""
        return self != Safety()

    def hold_back(self, policy: AnyPolicy, **settings: Any) -> AnyPolicy:
        """``policy``, held back if there is a baseline; ``settings`` are ``lam`` and ``delta``."""
        if isinstance(policy, Conservative):
            raise checks.conflict(
                "Name the policy that is held back, such as JointOFUL, and give `--baseline`: that is "
                "Conservative."
            )
        every = asdict(self)
        given = {key: every[key] for key in every if every[key] is not None}
        if not self.shared_noise:
            del given["shared_noise"]
        path = given.pop("baseline", None)
        if path is None:
            if given:
                name = next(iter(given)).replace("_", "-")
                raise checks.conflict(f"`--{name}` needs `--baseline`, the plan to hold on to.")
            return policy
        if policy.problem.contexts is not None:
            raise checks.conflict(
                "`--baseline` cannot be combined with contexts: what it pays differs by context."
            )
        arms = allocation_from(str(path), "--baseline")
        words = {"`allocation`": "`--baseline`", "`arm`": "each arm of `--baseline`"}
        with reword(words):
            baseline = policy.problem.allocation(arms)
            inner = cast(RecordPolicy[Any], policy)  # Conservative refuses others
            return Conservative(
                policy.problem, policy=inner, baseline=baseline, **{**settings, **given}
            )
