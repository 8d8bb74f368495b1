"""The documentation site: ``python -m sphinx -W --keep-going docs build/docs`` builds it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import easyfs
from easyfs import __version__

# Examples of parts that this version may not have yet.
ABSENT = [
    script
    for script, there in {
        "plot_confounder": "adjust_for" in easyfs.EasyFS().get_params(),
        "plot_apply_elsewhere": hasattr(easyfs, "load_selection"),
    }.items()
    if not there
]

project = "EasyFS"
author = "The EasyFS developers"
project_copyright = author
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "shown",
    "mathml",
    "support_table",
    "api_pages",
    "root_pages",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "_templates", "figures", "gallery/**.ipynb", "gallery/**.py"]
templates_path = ["_templates"]
nitpicky = True
# Types in docstrings are prose; classes of other projects, and modules that users do not import, are not on this site.
nitpick_ignore_regex = [("py:.*", r"(?!easyfs).*"), ("py:.*", r"easyfs\.[a-z_]+\.[a-z_]+(\..*)?")]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
html_math_renderer = "mathml"
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": "|".join([r"__init__", *ABSENT]),
    "within_subsection_order": "gallery_order.ByQuestion",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e6,  # times on somebody's machine are not the page's to tell
    "write_computation_times": False,
    "plot_gallery": os.environ.get("EASYFS_GALLERY", "1") != "0",
    "capture_repr": ("_repr_html_", "__repr__"),
    "matplotlib_animations": False,
    "notebook_extensions": set(),
    "doc_module": ("easyfs",),
    "backreferences_dir": "reference/examples",
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "EasyFS"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# Pages without pages below them need no list of these.
html_sidebars: dict[str, list[str]] = {page: [] for page in ("index", "start", "choosing")}
