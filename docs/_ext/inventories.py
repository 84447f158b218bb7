"""The names of other projects that our signatures use, as inventories for intersphinx.

The site is built without a network, so no inventory is fetched; these few lines stand in for them. A
name that its project no longer has fails the build.
"""

from importlib import import_module
from pathlib import Path
from zlib import compress

PLACES = {
    "numpy": (
        "https://numpy.org/doc/stable/",
        {
            "numpy.ndarray": "reference/generated/numpy.ndarray.html",
            "numpy.random.Generator": "reference/random/generator.html",
            "numpy.random.SeedSequence": "reference/random/bit_generators/generated/"
            "numpy.random.SeedSequence.html",
            "numpy.typing.ArrayLike": "reference/typing.html",
        },
    ),
    "xarray": (
        "https://docs.xarray.dev/en/stable/",
        {
            "xarray.Dataset": "generated/xarray.Dataset.html",
            "xarray.DataArray": "generated/xarray.DataArray.html",
        },
    ),
    "networkx": (
        "https://networkx.org/documentation/stable/",
        {
            "networkx.Graph": "reference/classes/graph.html",
            "networkx.DiGraph": "reference/classes/digraph.html",
        },
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        {
            "matplotlib.figure.Figure": "api/figure_api.html",
            "matplotlib.axes.Axes": "api/_as_gen/matplotlib.axes.Axes.html",
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        {
            "pandas.DataFrame": "reference/api/pandas.DataFrame.html",
        },
    ),
}
"""By project: where its pages are, and on which of them a name stands."""

OTHER_NAMES = {
    "xarray.Dataset": ["xarray.core.dataset.Dataset", "xr.Dataset"],
    "xarray.DataArray": ["xarray.core.dataarray.DataArray", "xr.DataArray"],
    "pandas.DataFrame": ["pandas.core.frame.DataFrame", "pd.DataFrame"],
    "networkx.Graph": ["networkx.classes.graph.Graph", "nx.Graph"],
    "networkx.DiGraph": ["networkx.classes.digraph.DiGraph"],
    "matplotlib.axes.Axes": ["matplotlib.axes._axes.Axes"],
    "numpy.random.Generator": ["numpy.random._generator.Generator", "np.random.Generator"],
    "numpy.random.SeedSequence": [
        "np.random.SeedSequence",
        "numpy.random.bit_generator.SeedSequence",
    ],
}
"""What a signature may call the same thing."""


def mapping(folder: Path) -> dict[str, tuple[str, str]]:
    """Write an inventory for each project and say where it is, for ``intersphinx_mapping``."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        project: (url, _write(folder, project, pages)) for project, (url, pages) in PLACES.items()
    }


def _write(folder: Path, project: str, pages: dict[str, str]) -> str:
    lines = []
    for name, page in pages.items():
        module, _, attribute = name.rpartition(".")
        getattr(import_module(module), attribute)
        for each in [name, *OTHER_NAMES.get(name, [])]:
            lines.append(f"{each} py:class 1 {page}#{name} -\n")
    head = (
        f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    path = folder / f"{project}.inv"
    path.write_bytes(head.encode() + compress("".join(lines).encode()))
    return str(path)
