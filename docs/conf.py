"""How Sphinx builds the site: `make docs`."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

import pictures  # noqa: E402

import causalcontext  # noqa: E402

project = "causalcontext"
author = "The causalcontext developers"
version = release = causalcontext.__version__
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "conf.py", "pictures.py"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Causal graphs by context",
    "page_width": "1080px",
    "fixed_sidebar": True,
}
html_copy_source = False
html_show_sourcelink = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 240
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"

_SOURCE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:src|benchmarks|tests)/[^)]*\)")


def _code_links_as_text(app, name, source):
    """Links into the code work in a clone; on the site they are plain text."""
    source[0] = _SOURCE_LINK.sub(r"\1", source[0])


def _all_pages_listed(app, name, source):
    """Pages that the index does not name yet are listed at its end, so that none is lost."""
    if name != "index":
        return
    pages = [page.stem for page in sorted(HERE.glob("*.md")) if page.stem != "index"]
    more = [page for page in pages if not re.search(rf"^{page}$", source[0], re.MULTILINE)]
    if more:
        source[0] += "\n".join(
            ["\n```{toctree}", ":maxdepth: 1", ":caption: More", "", *more, "```", ""]
        )


def setup(app):
    pictures.paint_all(HERE / "_pictures")
    app.connect("source-read", _code_links_as_text)
    app.connect("source-read", _all_pages_listed)
