"""The numbers of docs/sweeps.md's study, from the folder of its results. Prints Markdown and lists.

gbb sweep run benchmarks/sweeps/which-policy.toml --out results/which-policy
gbb sweep collect results/which-policy
python benchmarks/which_policy.py results/which-policy
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import xarray as xr

from gbb import sweep
from gbb.sweep import Row
from gbb.sweep.results.reading import finals
from gbb.sweep.run import sweep_in

PAPER, SYMMETRIC = "ImprovedOFUL", "ImprovedOFUL, symmetric"
KCUT, JOINT, THOMPSON = "KCutOFUL(3), symmetric", "JointOFUL", "ThompsonSampling"
ORDER = [THOMPSON, JOINT, KCUT, SYMMETRIC, PAPER, "OFUL", "EpsilonGreedy", "ExploreThenCommit"]


def where(rows: Sequence[Row], policy: str, **cell: object) -> list[Row]:
    """The rows of a policy in the cells that have these values."""
    return [r for r in rows if r.policy == policy and cell.items() <= r.cell.items()]


def ratios(out: str, by: Sequence[str], policy: str, baseline: str, **cell: object) -> None:
    """What a policy lost over what the baseline did, by cell."""
    print(f"  {policy} / {baseline} {cell or ''}")
    for row in where(sweep.summarise(out, by=by, baseline=baseline), policy, **cell):
        name = ", ".join(str(value) for value in row.cell.values())
        print(f"    {name}: {row.ratio:.2f} ({row.ratio_low:.2f} to {row.ratio_high:.2f})")


def clearly(out: str, policy: str, baseline: str) -> None:
    """In how many cells a policy is better than the baseline, level, or worse, at 95 %."""
    found = where(sweep.summarise(out, baseline=baseline), policy)
    better = [row.cell for row in found if row.ratio_high < 1.0]
    level = [row.cell for row in found if row.ratio_low <= 1.0 <= row.ratio_high]
    counts = f"better in {len(better)} of {len(found)}, level in {len(level)}"
    print(f"  {policy} against {baseline}: {counts}")
    large = sum(cell["n"] >= 36 for cell in level)
    onehot = sum(cell["arms"] == "one-hot" for cell in level)
    print(f"    of those level {large} have 36 or 64 agents, {onehot} one-hot arms")
    for row in found:
        if row.ratio_high < 1.0 and len(better) < 10:
            print(f"    better: {row.cell} {row.ratio:.2f}")


def tables(out: str) -> None:
    """The table of all networks, and that of what was lost by network and arms."""
    rows = sweep.summarise(out, by=[], baseline=PAPER)
    for row in sorted(rows, key=lambda row: row.lost):
        lost, part = row.lost_high - row.lost, row.ratio_high - row.ratio
        wins = f"{100 * row.wins:.0f} ({100 * row.wins_low:.0f} to {100 * row.wins_high:.0f})"
        print(
            f"| {row.policy} | {100 * row.lost:.2f} ±{100 * lost:.2f} "
            f"| {row.ratio:.3f} ±{part:.3f} | {wins} |"
        )
    print("\n| | " + " | ".join(ORDER) + " |\n|" + " --- |" * (len(ORDER) + 1))
    rows = sweep.summarise(out, by=["graph", "arms"], baseline=PAPER)
    for cell in (row.cell for row in rows if row.policy == PAPER):
        own = [where(rows, name, **cell)[0] for name in ORDER]
        shown = [f"{100 * r.lost:.2f} ±{100 * (r.lost_high - r.lost):.2f}" for r in own]
        print(f"| {cell['graph']}, {cell['arms']} | " + " | ".join(shown) + " |")


def findings(out: str) -> None:
    """What the findings quote, by their numbers."""
    lost, names = finals(out), sweep_in(out).names
    least = lost.min(axis=2) == lost[:, :, names.index(THOMPSON)]
    print(f"1. {THOMPSON} has the least regret on {100 * least.mean():.0f} % of the instances")
    for name in ORDER[1:]:
        clearly(out, name, THOMPSON)
    clearly(out, THOMPSON, JOINT)
    ratios(out, ["n"], JOINT, THOMPSON)
    print("2.")
    clearly(out, KCUT, JOINT)
    print("3.")
    ratios(out, ["graph", "zeta"], SYMMETRIC, PAPER)
    data = xr.open_dataset(f"{out}/dataset.nc")
    regret = data["regret"].sel(zeta=0.0).isel(round=slice(-2, None))
    rounds = np.diff(regret["round"].to_numpy())[0]
    late = regret.diff("round").isel(round=0, drop=True) / rounds / data["optimum"].sel(zeta=0.0)
    for name in (PAPER, THOMPSON):
        own = 100 * late.sel(policy=name).mean(["n", "arms", "matrix", "run"])
        shown = [f"{each.graph.item()} {each.item():.1f}" for each in own]
        print(f"  {name} lost in the last {rounds} rounds at zeta 0, %: {', '.join(shown)}")
    print("4.")
    ratios(out, ["graph", "arms"], KCUT, SYMMETRIC)
    ratios(out, ["graph", "zeta"], KCUT, SYMMETRIC, graph="complete")
    print("5.")
    ratios(out, ["graph"], "OFUL", PAPER)
    ratios(out, ["zeta"], "OFUL", PAPER)
    print("6.")
    ratios(out, ["arms"], "EpsilonGreedy", PAPER)


def main() -> None:
    tables(sys.argv[1])
    findings(sys.argv[1])


if __name__ == "__main__":
    main()
