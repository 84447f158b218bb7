"""Regret against the best fixed couple on a switching adversary, as T grows. Prints Markdown.

python benchmarks/adversary.py [ROUNDS] [RUNS]
"""

from __future__ import annotations

import sys

import numpy as np
import xarray as xr

import gbb
from gbb.adversary import AdversarialEnvironment, switching
from gbb.policies import ExponentialWeights, ImprovedOFUL, JointOFUL


def played(rounds: int, runs: int) -> xr.Dataset:
    """M = I and -I in turn, four arms in the plane, six agents on a path."""
    graph = gbb.Graph.path(6)
    arms = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    problem = gbb.Problem(graph, arms, S=float(np.sqrt(2.0)))
    env = AdversarialEnvironment(problem, switching([np.eye(2), -np.eye(2)]), noise="none")
    cut = gbb.cuts.greedy(graph)
    kept = np.unique(np.geomspace(1000, rounds, 9).astype(int))
    settings = {"cut": cut, "rounds": rounds, "record": kept}
    few = [kind(problem, cut=cut) for kind in (ImprovedOFUL, JointOFUL)]
    slow = gbb.simulate(env, few, runs=2, **settings)
    fast = gbb.simulate(env, ExponentialWeights(problem, cut=cut), runs=runs, **settings)
    return xr.concat([slow.mean("run"), fast.mean("run")], "policy").assign(
        size=xr.concat([rms(slow.regret), rms(fast.regret)], "policy")
    )


def rms(regret: xr.DataArray) -> xr.DataArray:
    """The root mean square over runs: regrets near zero have either sign."""
    return np.sqrt((regret**2).mean("run"))


def main() -> None:
    rounds, runs = (int(text) for text in (sys.argv[1:] + ["100000", "10"][len(sys.argv) - 1 :]))
    found = played(rounds, runs)
    t = found["round"].to_numpy()
    heads = " | ".join(f"T = {x:,}" for x in t[::4])
    print(f"| policy | {heads} | exponent |")
    print("| --- " * (len(t[::4]) + 2) + "|")
    for policy in found["policy"].to_numpy():
        mean, size = (found[name].sel(policy=policy).to_numpy() for name in ("regret", "size"))
        slope = np.polyfit(np.log(t), np.log(size), 1)[0]
        cells = " | ".join(f"{m:,.0f} ({s:,.0f})" for m, s in zip(mean, size, strict=True))
        shown = " | ".join(cells.split(" | ")[::4])
        print(f"| {policy} | {shown} | {slope:.2f} |")


if __name__ == "__main__":
    main()
