"""Figures: the palette, the curves and the files."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread

import gbb
from gbb import plotting

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


def simulated(names=("OFUL", "ExploreThenCommit"), *, rounds=60, runs=3, record=1, M=None):
    graph = gbb.Graph.complete(4)
    M = gbb.instances.absolute_normal(3, seed=2, zeta=0.0) if M is None else M
    problem = gbb.Problem(graph, np.eye(3), S=float(np.linalg.norm(M)) or 1.0)
    cut = gbb.cuts.greedy(graph)
    chosen = [gbb.policies.build(name, problem, cut=cut, horizon=rounds) for name in names]
    env = gbb.Environment(problem, M)
    return gbb.simulate(env, chosen, rounds=rounds, runs=runs, record=record)


def axes():
    return Figure().add_subplot()


def lines(ax):
    """The labelled lines by label."""
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def test_the_papers_policies_have_their_own_colours():
    papers = {"OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom", "FixedAllocation"}
    assert papers <= set(plotting.COLOURS)
    assert len(set(plotting.COLOURS.values())) == len(plotting.COLOURS)
    assert not set(plotting.SPARE) & set(plotting.COLOURS.values())


def test_the_palette_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        plotting.COLOURS["OFUL"] = "red"


def test_no_two_policies_of_a_figure_look_alike():
    variants = [f"ImprovedOFUL {k}" for k in range(5)]
    names = ["OFUL", *variants, *(f"Mine{k}" for k in range(12))]
    looks = plotting.styles(names)
    assert looks["OFUL"] == {"color": plotting.COLOURS["OFUL"], "linestyle": "-"}
    for variant, dash in zip(variants, plotting.DASHES, strict=False):
        assert looks[variant] == {"color": plotting.COLOURS["ImprovedOFUL"], "linestyle": dash}
    assert len({tuple(look.values()) for look in looks.values()}) == len(names)
    others = [looks[name]["color"] for name in [*variants[3:], *names[6:]]]
    assert len({*others, *plotting.COLOURS.values()}) == len(others) + len(plotting.COLOURS)
    assert plotting.styles(names) == looks
    assert plotting.styles(["Z", "A"])["Z"]["color"] == plotting.SPARE[0]


def test_moving_average_of_every_round_is_the_plain_one():
    result = simulated()
    window = np.full(60, 7.0)
    found = plotting.moving_average(result, "OFUL", window)
    fraction = result["fraction"].sel(policy="OFUL").to_numpy()
    for t in range(60):
        expected = fraction[:, max(0, t - 6) : t + 1].mean(axis=1)
        np.testing.assert_allclose(found[:, t], expected, atol=1e-12)


def test_moving_average_counts_rounds_that_were_not_recorded():
    every, some = simulated(), simulated(record=10)
    found = plotting.moving_average(some, "OFUL", np.full(6, 10.0))
    fraction = every["fraction"].sel(policy="OFUL").to_numpy()
    np.testing.assert_allclose(found, fraction.reshape(3, 6, 10).mean(axis=2), atol=1e-12)


def test_plot_draws_each_policy_in_its_colour():
    result, ax = simulated(), axes()
    plotting.plot_fraction(result, ax, window=5)
    for policy in ("OFUL", "ExploreThenCommit"):
        line = lines(ax)[policy]
        assert to_hex(line.get_color()).upper() == plotting.COLOURS[policy]
        expected = plotting.moving_average(result, policy, np.full(60, 5.0)).mean(axis=0)
        np.testing.assert_allclose(line.get_ydata(), expected)
    assert len(ax.collections) == 2 + 1  # a band of one standard error for each, one in the legend
    assert ax.get_xlabel() == "round t"
    assert ax.get_ylabel() == "fraction of the optimum"
    assert ax.get_xscale() == "linear"


def test_a_single_round_is_a_dot():
    for record, marker in ((60, "o"), (30, "None")):
        ax = axes()
        plotting.plot_fraction(simulated(record=record), ax)
        assert lines(ax)["OFUL"].get_marker() == marker


def test_the_trace_of_one_run_is_fainter():
    faint = []
    for runs in (1, 3):
        ax = axes()
        plotting.plot_fraction(simulated(runs=runs), ax)
        faint.append(ax.lines[0].get_alpha())
    assert faint[0] < faint[1]


def test_a_band_needs_two_runs():
    ax = axes()
    plotting.plot_fraction(simulated(runs=1), ax)
    assert len(ax.collections) == 0
    assert not [label for label in ax.get_legend_handles_labels()[1] if "error" in label]
    plotting.plot_fraction(simulated(), ax)
    assert ax.get_legend_handles_labels()[1].count("±1 standard error over runs") == 1
    assert ax.get_xlabel() == "round t"


def test_equal_alphas_share_a_line():
    result, ax = simulated(["OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom"]), axes()
    assert (result["alpha"].to_numpy()[2:] == 1.0).all()  # neither has a theorem
    result["alpha"][2] = result["alpha"][0]
    plotting.plot_fraction(result, ax)
    labels = [label for label in lines(ax) if label.startswith(ALPHA)]
    alpha = result["alpha"].to_numpy()
    assert alpha[0] == alpha[2] != alpha[1]
    assert labels == [
        f"{ALPHA} = {alpha[0]:.3f}, OFUL and ExploreThenCommit",
        f"{ALPHA} = {alpha[1]:.3f}, ImprovedOFUL",
    ]
    bare = axes()
    plotting.plot_fraction(result, bare, alphas=False)
    assert not [label for label in lines(bare) if label.startswith(ALPHA)]


def test_uneven_rounds_stand_on_a_logarithmic_axis():
    ax = axes()
    plotting.plot_fraction(simulated(record="log"), ax)
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("record", [1, 7, "log"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 60])
def test_short_runs_can_be_drawn(rounds, record):
    ax = axes()
    plotting.plot_fraction(simulated(["UniformRandom"], rounds=rounds, record=record), ax)
    assert np.isfinite(lines(ax)["UniformRandom"].get_ydata()).all()


def test_bad_input_is_refused():
    with pytest.raises(
        gbb.InputError, match="Expected `window` to be a whole number >= 1, but got 0"
    ):
        plotting.plot_fraction(simulated(), axes(), window=0)
    zero = simulated(["UniformRandom"], M=np.zeros((3, 3)))
    with pytest.raises(
        gbb.InputError, match=r"Expected `result` to have a positive optimum, but got 0\.0"
    ):
        plotting.plot_fraction(zero, axes())
    negative = simulated(["UniformRandom"], M=-np.ones((3, 3)))
    with pytest.raises(gbb.InputError, match=r"to have a positive optimum, but got -12\.0"):
        plotting.plot_fraction(negative, axes())


@pytest.mark.parametrize("name", ["OFUL", "JointOFUL, starts=3,lam=2,delta=0.05,radius=symmetric"])
def test_the_legend_hides_no_curve_and_is_whole(name):
    result = simulated().assign_coords(policy=[name, "ExploreThenCommit"])
    figure = plotting.figure_of(result)
    figure.draw_without_rendering()
    ax, (legend,) = figure.axes[0], figure.legends
    shown = legend.get_window_extent()
    assert shown.y1 <= ax.get_tightbbox().y0 + 1
    assert shown.x1 <= figure.bbox.x1
    assert shown.y0 >= figure.bbox.y0 - 1
    assert ax.get_window_extent().height > 200
    assert name in [text.get_text() for text in legend.get_texts()]


def test_figures_are_written(tmp_path):
    figure = plotting.figure_of(simulated())
    assert figure.axes[0].get_xlabel() == "round t"
    assert figure.axes[0].get_title(loc="left") == ("4 agents, 12 edges, 3 arms, mean of 3 runs")
    plotting.save_figure(figure, tmp_path / "a.png")
    assert imread(tmp_path / "a.png").shape == (570 + 3 * 30, 960, 4)  # three lines of legend
    plotting.save_figure(figure, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert plotting.figure_of(simulated(runs=1)).axes[0].get_title(loc="left").endswith("1 run")


def test_a_figure_is_whole_or_absent(tmp_path, monkeypatch):
    figure = plotting.figure_of(simulated(runs=1))
    with pytest.raises(
        gbb.InputError, match=r"Expected `path` to end in \.png, \.pdf, \.svg, but got"
    ):
        plotting.save_figure(figure, tmp_path / "a.gif")

    def broken(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", broken)
    with pytest.raises(OSError, match="No space left on device"):
        plotting.save_figure(figure, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
