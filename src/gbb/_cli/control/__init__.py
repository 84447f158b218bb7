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
    "import": (
        "control.importing",
        "Learn from many rounds that were played elsewhere, all of them or none.",
    ),
    "retract": (
        "control.changes",
        "Take back what was told of a trial, or an attached round; the history keeps both.",
    ),
    "forbid": (
        "control.changes",
        "Keep agents from playing arms; or pin them to one, or allow arms again.",
    ),
    "replace-graph": (
        "control.setup",
        "Play on another graph and keep what was learnt; agents go by their names.",
    ),
    "set-policy": (
        "control.setup",
        "Let another policy choose, from everything told so far; or the same with other settings.",
    ),
    "discount": ("control.setup", "Let everything told so far count less from now on."),
    "recommend": (
        "control.answers",
        "The best allocation by what is known, with its predicted reward.",
    ),
    "table": (
        "control.table",
        "The best allocation in each context, with its predicted reward: a table for a plant.",
    ),
    "predict": (
        "control.predict",
        "What an allocation pays by what is known, with its interval.",
    ),
    "estimate": (
        "control.estimate",
        "What an edge of each type pays for every pair of arms, with the half-width of its interval.",
    ),
    "status": ("control.answers", "How far the controller is, and which trials are open."),
    "watch": (
        "control.watch",
        "Close trials whose time is up, and print a line for each alert; the exit code says how bad.",
    ),
    "diagnose": (
        "control.diagnose",
        "Whether the pairwise model predicts what was told: is it good enough to act on?",
    ),
    "replay": (
        "control.replay",
        "What another policy would have earned on logged rounds, as the model fitted to them says.",
    ),
    "check": (
        "control.check",
        "Read the whole log, compare it with what was kept of it, and say whether it is in order.",
    ),
    "history": ("control.history", "What happened, a line for each event, the oldest first."),
    "run": (
        "control.run",
        "Answer lines of JSON on standard input until it ends, each with one on standard output.",
    ),
    "export": (
        "control.exporting",
        "Every reward that counts, as CSV; the whole history, as JSON; or all of it, as JSONL.",
    ),
    "backup": (
        "control.keeping",
        "Write controllers to a file that `restore` makes them of again.",
    ),
    "restore": ("control.keeping", "Make the controllers of a backup again, bit for bit."),
    "copy": ("control.keeping", "Copy a controller under another name, or to another storage."),
    "rename": ("control.keeping", "Give a controller another name; its history says so."),
    "delete": ("control.keeping", "Remove a controller and its whole log for good."),
}

control = add_commands(TyperGroup(name="control", no_args_is_help=True), PLACES)
