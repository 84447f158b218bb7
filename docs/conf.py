"""The documentation site: `make docs` builds it, and nothing of it comes from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import inventories  # noqa: E402

import gbb  # noqa: E402

project, author = "gbb", "The gbb authors"
copyright = author
version = release = gbb.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "api",
    "mathml",
    "names",
]
exclude_patterns = [
    "course",
    "examples",
    "_ext",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
root_doc = "index"
html_title = "gbb"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "changes": [], "search": []}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Markdown as it stands: headings are anchors, $...$ is mathematics.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# The reference: `api` writes a page for every public name; types come from the signatures.
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
intersphinx_mapping = inventories.mapping(HERE.parent / "build" / "inventories")

# The course and the examples run as the site is built.
sphinx_gallery_conf = {
    "examples_dirs": ["course", "examples"],
    "gallery_dirs": ["learn", "gallery"],
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "looks.reset"),
    "reset_modules_order": "both",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "min_reported_time": 0,
    "reference_url": {"gbb": None},
    "doc_module": ("gbb",),
    "write_computation_times": True,
    "capture_repr": ("_repr_html_", "__str__"),
}
