"""What oracle.py uses of gbb, in the former and the designed form of each name.

Copy this file to tests/oracle_names.py in the project and adapt the copy: oracle.py, run in the project's root, reads that one
instead. It may rename and reshape; it may not compute a number, skip one or round one.
"""
import inspect

import numpy as np
import pandas as pd

import gbb
from gbb import adversary, contexts, cuts, instances, learning, optimum, policies, radius, simulation, sweep, theory
from gbb.experiments import figure1, figure2, table1
from gbb.learning.scales import estimate_scales

# Names: what a rebuild renames or reshapes, in its former and its designed form

def first(item, *names):
    """The first of these attributes that exists."""
    return getattr(item, next(name for name in names if hasattr(item, name)))

SWEEP_CUT = {"cut": "greedy"}
RENAMED = {"most": "max_size", "alike": "symmetric", "explore": "epsilon", "estimate": "estimator"}
CLASSES = {"YesNoThompson": "BernoulliThompson", "LowRankExploreThenCommit": "ExploreThenCommit"}
solve_same, serial = first(optimum, "solve_deterministic", "solve_alike"), first(sweep.executors, "serial", "here")
read_sweep, policy_names = first(gbb.Sweep, "from_toml", "read"), first(policies, "names", "classes")

def call(function, *args, **settings):
    """Call with the keywords as this version names them."""
    known = inspect.signature(function).parameters
    return function(*args, **{key if key in known else RENAMED.get(key, key): v for key, v in settings.items()})

def make_policy(problem, name, **settings):
    """A policy by the name of its class, over the greedy cut where it takes one."""
    kind = first(policies, name, CLASSES.get(name, name))
    takes = "cut" in inspect.signature(kind).parameters
    return call(kind, problem, **({"cut": cuts.greedy(problem.graph)} | settings if takes else settings))

def guarantee_of(policy):
    """Which bound holds for the policy with its settings: a name of a theorem, or None."""
    return policy.guarantee

def observe(problem, arms, rewards):
    """The record of a round in which NaN is a missing reward."""
    return learning.observe(problem, arms, rewards)

def numbers_of(record):
    tables = [record.N, record.Y] if hasattr(record, "N") else [record.qq, record.yq]
    return [*tables, first(record, "numbers", "count"), record.squares]

def errors_of(problem, record, lam, delta):
    return learning.confidence.errors(gbb.Ridge(problem, record, lam), delta)

def quick(module):
    """The quick settings of an experiment, by the paper and as released."""
    return module.QUICK, getattr(module, "QUICK_RELEASED", None) or module.settings_for(quick=True, as_released=True)

def frame(found):
    """A DataFrame, or what was a list of named tuples, a pair (columns, rows) or a table with rows."""
    if isinstance(found, tuple):
        return pd.DataFrame(found[1], columns=list(found[0]))
    return found if isinstance(found, pd.DataFrame) else pd.DataFrame(getattr(found, "rows", found))

def by_column(found):
    """The same by column; the cells of a sweep as columns of their own."""
    flat = frame(found).rename(columns={"along": "axis"})
    if "cell" in flat:
        flat = pd.concat([pd.DataFrame(flat.pop("cell").tolist()), flat], axis=1)
    return {str(name): flat[name].tolist() for name in sorted(flat)}
