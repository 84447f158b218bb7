"""``compare``: policies side by side over a family of instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, seeds
from gbb._support.seeds import Seed
from gbb.environment import Environment
from gbb.policies import PolicyLike, make_policies
from gbb.simulation.simulate import simulate, simulate_together
from gbb.sweep.executors import here
from gbb.sweep.finish import MakeExecutor, gather

if TYPE_CHECKING:
    import xarray as xr


def compare(
    instances: Environment | Sequence[Environment],
    policies: PolicyLike,
    *,
    rounds: int,
    runs: int = 1,
    seed: Seed = 0,
    record: int | str | ArrayLike = "log",
    workers: int | None = None,
    progress: bool = False,
    method: str = "engine",
    make_executor: MakeExecutor = here,
) -> xr.Dataset:
    """Play the same policies on every instance, each run of all of them with the same seed.

    Parameters
    ----------
    instances
        The environments, or a single one; all need a positive optimum.
    policies
        A function that makes the policies of an instance's problem, always under the same names. Also a
        policy's name or class, which then plays over the best cut and knows ``rounds``; a policy
        itself, where there is one instance; or a list of any of these.
    rounds, runs, seed, record, workers, progress, method
        As for :func:`gbb.simulate`; ``runs`` is per instance. With ``cuda`` all instances are played in
        one launch.
    make_executor
        What instances are handed to, each by itself, as tasks are by :func:`gbb.sweep.run`: this process
        when left out; ``gbb.sweep.executors.local(8)`` for eight processes.

    Returns
    -------
    xarray.Dataset
        As of :func:`gbb.simulate`, with ``regret`` and ``alpha_regret`` in units of the instance's
        optimum, the total in rewards as ``lost``, and ``run`` over all instances and their runs; the
        coordinate ``instance`` says which is which. ``unproven_optima`` among its attributes counts the
        instances whose optimum was not proven: policies may have lost more there. Sizes in which
        instances differ are the least and the largest.

    See Also
    --------
    gbb.comparison : What each policy lost, and against the first, with intervals.
    gbb.plotting.plot_fraction : A picture of it.
    """
    import xarray as xr  # noqa: PLC0415

    instances = _check_instances(instances)
    children = seeds.spawn(seed, len(instances))
    made = [make_policies(policies, env.problem, rounds) for env in instances]
    given: dict[str, Any] = {"rounds": rounds, "runs": runs, "record": record}
    if method == "cuda":
        jobs = list(zip(instances, made, children, strict=True))
        together = list(simulate_together(jobs, **given))
    else:
        own: dict[str, Any] = {**given, "workers": workers, "progress": progress, "method": method}
        each = zip(instances, made, children, strict=True)
        calls = [partial(simulate, env, chosen, seed=child, **own) for env, chosen, child in each]
        together = gather(calls, make_executor)
    parts = []
    for index, own_result in enumerate(together):
        best = float(own_result.attrs["optimum"])
        if not best > 0:
            raise checks.input_error("instances", "have positive optima", f"{best:g} at {index}")
        found = own_result.assign(lost=own_result["regret"])
        for name in ("regret", "alpha_regret"):
            found[name] = found[name] / best
        here = found.drop_vars("alpha").assign_coords(instance=("run", np.full(runs, index)))
        parts.append(here)
    joined = xr.concat(parts, dim="run", coords="minimal", compat="override", join="override")
    joined.attrs = {
        **_sizes([part.attrs for part in parts]),
        "optimum": 1.0,
        "unproven_optima": sum(not part.attrs["optimum_proven"] for part in parts),
        "instances": len(instances),
        "runs": runs,
    }
    return joined.assign_coords(run=np.arange(joined.sizes["run"]))


def _sizes(found: Sequence[Mapping[str, float]]) -> dict[str, float | list[float]]:
    """What all instances are like: a number where they agree, else the least and the largest."""
    sizes: dict[str, float | list[float]] = {}
    for key in ("n", "m", "K", "d", "sigma"):
        values = [each[key] for each in found]
        sizes[key] = values[0] if len(set(values)) == 1 else [min(values), max(values)]
    return sizes


def _check_instances(instances: Environment | Sequence[Environment]) -> list[Environment]:
    """The environments as a list."""
    several = [instances] if isinstance(instances, Environment) else instances
    rule = "be a gbb.Environment or a list of them"
    if not isinstance(several, Sequence):
        raise checks.input_error("instances", rule, type(instances).__name__)
    if not several:
        raise checks.input_error("instances", "hold at least one environment", "none")
    for each in several:
        if not isinstance(each, Environment):
            raise checks.input_error("instances", rule, f"a list with {type(each).__name__}")
    return list(several)
