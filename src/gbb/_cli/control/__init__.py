"""``gbb control``: ask and tell from the shell, from scripts and from any language."""

from __future__ import annotations

from typer.core import TyperGroup

from gbb._cli.on_demand import Places, add_commands

PLACES: Places = {
    "create": ("control.create", "Start a controller for a graph and its arms."),
    "ask": ("control.trials", "What each agent should do next."),
    "tell": ("control.trials", "What was paid when a trial was played."),
    "tell-tables": (
        "control.tables",
        "What the links of a shard paid when a trial was played, summed by arms.",
    ),
    "attach": ("control.trials", "Learn from a round that was played elsewhere."),
    "retract": (
        "control.changes",
        "Take back what was told of a trial; it is open again and the history keeps both.",
    ),
    "forbid": (
        "control.changes",
        "Keep agents from playing arms; or pin them to one, or allow arms again.",
    ),
    "recommend": (
        "control.answers",
        "The best allocation by what is known, with its predicted reward.",
    ),
    "estimate": (
        "control.estimate",
        "What an edge of each type pays for every pair of arms, with the half-width of its interval.",
    ),
    "status": ("control.answers", "How far the controller is, and which trials are open."),
    "diagnose": (
        "control.diagnose",
        "Whether the pairwise model predicts what was told: is it good enough to act on?",
    ),
    "check": (
        "control.check",
        "Read the whole log, compare it with what was kept of it, and say whether it is in order.",
    ),
    "history": ("control.answers", "Every event, the oldest first."),
    "export": (
        "control.answers",
        "Every reward that counts, with its arms, as CSV; or the whole history, as JSON.",
    ),
}

control = add_commands(TyperGroup(name="control", no_args_is_help=True), PLACES)
