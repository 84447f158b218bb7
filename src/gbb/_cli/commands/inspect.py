"""``gbb inspect``: a graph, its cut, and what the theory says of an instance on it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gbb import theory
from gbb._cli import options as opt
from gbb._cli.given.as_read import as_read, print_as_read
from gbb._cli.given.graphs import CutName, GraphOptions, cut_of, graph_of
from gbb._cli.given.instance import Bounds, Files, environment
from gbb._cli.given.policies import Learner
from gbb._cli.given.tables import read_arms
from gbb._cli.show import as_json, console, grid, number, pairs
from gbb._support import checks
from gbb.cuts import Cut

ROUNDS = 20_000
"""The horizon of the regret bound when nothing says it (the paper's Figure 2)."""


def inspect(
    graph: opt.GraphSpec,
    *,
    options: GraphOptions,
    cut: CutName = "best",
    files: Files,
    bounds: Bounds,
    learner: Learner,
    rounds: Annotated[
        int | None, opt.option("Horizon of the bound.", ROUNDS, panel=opt.LEARNER)
    ] = None,
    agents: Annotated[
        bool, typer.Option(help="List V1 and V2, and with --matrix the best allocation found.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Show a graph and its cut; with --matrix also the theory report.

    Agents, and with --arms arms and features, are listed as they were read.
    The report gives the optimum, gamma, Delta, epsilon, the alphas, the regret
    bounds and whether each assumption of the theory holds.
    """
    if files.matrix is None:
        report_only = {**asdict(bounds), **asdict(learner), "rounds": rounds}
        for name, value in report_only.items():
            if value is not None:
                raise checks.conflict(f"`--{name}` can only be combined with `--matrix`.")
    horizon = ROUNDS if rounds is None else checks.integer("--rounds", rounds, low=1)
    built = graph_of(graph, options)
    found = cut_of(built, cut, options.seed)
    data: dict[str, Any] = _graph_numbers(found) | {"cut_method": cut}
    arms = None if files.arms is None else read_arms(files.arms)
    data["as_read"] = as_read(built, arms)
    if agents:
        data["agents"] = {
            "V1": [built.labels[i] for i in found.V1],
            "V2": [built.labels[i] for i in found.V2],
        }
    if files.matrix is not None:
        env = environment(built, files, bounds, read=arms)
        report = theory.report(env, cut=found, **learner.settings())
        data["theory"] = _theory_numbers(report, horizon)
        if agents:
            data["agents"]["best_allocation"] = _by_name(report)
    if json:
        typer.echo(as_json(data))
        return
    _print_graph(graph, data)
    if Path(graph).is_file() or arms is not None:
        console.print()
        print_as_read(built, arms)
    if "theory" in data:
        _print_theory(data["theory"])
    if agents:
        _print_agents(data["agents"])


def _graph_numbers(cut: Cut) -> dict[str, Any]:
    graph = cut.graph
    return {
        "n": graph.n,
        "m": graph.m,
        "components": graph.components(),
        "bipartite": graph.is_bipartite(),
        "V1": len(cut.V1),
        "V2": len(cut.V2),
        "m12": cut.m12,
        "m21": cut.m21,
        "m1": cut.m1,
        "m2": cut.m2,
        "uncut": cut.uncut if graph.m else None,
        "rho": cut.rho if graph.m else None,
    }


def _by_name(report: theory.Report) -> dict[str, str | int]:
    """The best allocation found: an arm per agent, by name where there are names."""
    problem = report.environment.problem
    names = problem.arm_names or range(problem.K)
    arms = report.optimum.allocation.tolist()
    labels = problem.graph.labels
    return {str(label): names[arm] for label, arm in zip(labels, arms, strict=True)}


def _theory_numbers(report: theory.Report, rounds: int) -> dict[str, Any]:
    problem, best = report.environment.problem, report.optimum
    names = problem.arm_names or range(problem.K)
    return {
        "K": problem.K,
        "d": problem.d,
        "sigma": problem.sigma,
        "S": problem.S,
        "L": problem.L,
        "lam": report.lam,
        "delta": report.delta,
        "optimum": best.value,
        "optimum_upper_bound": best.upper_bound,
        "optimum_proven": best.proven,
        "optimum_method": best.method,
        "best_couple": [names[arm] for arm in report.best_couple],
        "best_couple_over_cut": [names[arm] for arm in report.best_couple_over_cut],
        "gamma": report.gamma,
        "Delta": report.Delta,
        "epsilon": report.epsilon,
        "alpha_1": report.alpha_1,
        "alpha_1_sharp": report.alpha_1_sharp,
        "alpha_2": report.alpha_2,
        "alpha_3": report.alpha_3,
        "alpha_3_proven": report.product.proven,
        "rounds": rounds,
        "regret_bound": report.regret_bound(rounds),
        "regret_bound_sharp": report.regret_bound_sharp(rounds),
        "regret_bound_symmetric": report.regret_bound_sharp(rounds, radius="symmetric"),
        "assumptions": [
            {"rule": rule, "value": value, "limit": limit, "holds": bool(holds)}
            for rule, value, limit, holds in report.assumptions
        ],
    }


def _print_graph(title: str, data: dict[str, Any]) -> None:
    rows = [
        ("agents n", number(data["n"])),
        ("directed edges m", number(data["m"])),
        ("components", number(data["components"])),
        ("bipartite", "yes" if data["bipartite"] else "no"),
    ]
    console.print(pairs(f"Graph {title}", rows))
    rows = [
        ("|V1|, |V2|", f"{number(data['V1'])}, {number(data['V2'])}"),
        ("m12, m21", f"{number(data['m12'])}, {number(data['m21'])}"),
        ("m1, m2", f"{number(data['m1'])}, {number(data['m2'])}"),
        ("uncut (m1 + m2)/m", number(data["uncut"])),
        ("cut rho", number(data["rho"])),
    ]
    console.print()
    console.print(pairs(f"Cut ({data['cut_method']})", rows))


def _print_theory(data: dict[str, Any]) -> None:
    proof = f"proven ({data['optimum_method']})"
    if not data["optimum_proven"]:
        bound = number(data["optimum_upper_bound"])
        proof = f"best known ({data['optimum_method']}), at most {bound}; not proven"
    rows = [
        ("optimum", f"{number(data['optimum'])}, {proof}"),
        ("best couple", ", ".join(map(str, data["best_couple"]))),
        ("best couple over cut", ", ".join(map(str, data["best_couple_over_cut"]))),
        *((name, number(data[name])) for name in ("gamma", "Delta", "epsilon")),
        ("alpha_1 (1 + gamma)/2", number(data["alpha_1"])),
        ("alpha_1 for this cut", number(data["alpha_1_sharp"])),
        ("alpha_2", number(data["alpha_2"])),
        ("alpha_3", number(data["alpha_3"]) + " or more" * (not data["alpha_3_proven"])),
        (f"regret bound, T = {data['rounds']:,}", number(data["regret_bound"])),
        ("sharper", number(data["regret_bound_sharp"])),
        ("with radius symmetric", number(data["regret_bound_symmetric"])),
    ]
    console.print()
    console.print(pairs("Theory", rows))
    console.print()
    table = [
        (item["rule"], number(item["value"]), number(item["limit"]), _verdict(item["holds"]))
        for item in data["assumptions"]
    ]
    console.print(grid("Assumptions", ("rule", "value", "limit", ""), table))


def _print_agents(data: dict[str, Any]) -> None:
    rows = [(part, ", ".join(map(str, data[part])) or "-") for part in ("V1", "V2")]
    console.print()
    console.print(pairs("Agents", rows))
    if "best_allocation" in data:
        console.print()
        found = [(agent, str(arm)) for agent, arm in data["best_allocation"].items()]
        console.print(pairs("Best allocation found", found))


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"
