"""
A sweep
=======

Policies on every combination of graphs, sizes and matrices, as one labelled dataset. What is shown here on one core runs unchanged on
a cluster.
"""

import tempfile

import matplotlib.pyplot as plt
import xarray as xr

import gbb
from gbb import sweep

declared = gbb.Sweep(
    graph=["complete", "circle", "star"],
    n=[5, 9],
    d=4,
    zeta=0.0,
    sigma=0.5,
    matrices=3,
    runs=2,
    rounds=500,
    policies=["OFUL", "ImprovedOFUL", "ThompsonSampling"],
)
folder = tempfile.mkdtemp()
print(sweep.run(declared, folder, make_executor=sweep.executors.local(threads=True)))
collected = sweep.collect(folder)
for row in sweep.summarise(folder, by=["graph"], baseline="ImprovedOFUL")[:3]:
    print(row)

# %%
# The dataset is read lazily: only the last round is loaded here.

with xr.open_dataset(collected) as data:
    regret = data["regret"].isel(round=-1).mean(["matrix", "run", "n"]).load()
fig, ax = plt.subplots()
regret.to_series().unstack("policy").plot.bar(ax=ax, rot=0, color=["#0072B2", "#D55E00", "#E69F00"])
ax.set(ylabel="regret after 500 rounds", xlabel="", title="Which policy suits which graph")

# %%
# Threads suit a script; processes, Dask and Slurm are other executors. Differences are paired: instance i has the same
# matrix for every policy and on every graph of its size. :doc:`../sweeps` has a study of which policy suits which network.
