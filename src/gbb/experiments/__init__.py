"""The paper's table and figures: settings as constants, ``run`` and ``report``.

Each experiment is a module with the constants ``PAPER``, ``RELEASED`` and ``QUICK``: ``run`` gives an
:class:`xarray.Dataset`, ``report`` reads verdicts off it and ``plot`` draws the figures.

>>> import dataclasses
>>> from gbb.experiments import table1
>>> few = dataclasses.replace(table1.PAPER, draws=5)
>>> table1.run(few).uncut.sel(graph="complete").item()
0.494949...
"""

from gbb.experiments import figure1, figure2, paper, table1

__all__ = ["figure1", "figure2", "paper", "table1"]
