"""The documentation site: ``make docs`` builds it into build/docs, without a network and without warnings."""

import sys
from pathlib import Path

import vindeby

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "vindeby"
author = "The vindeby authors"
copyright = author  # noqa: A001  the name that Sphinx reads
version = release = vindeby.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "generated_pages",
    "mathml",
]
exclude_patterns = ["_ext"]

# The pages are plain Markdown, which a repository browser shows too; a link to `page.md#heading` works in both.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
# The tests execute the notebooks; the site shows the outputs that are kept in them.
nb_execution_mode = "off"
suppress_warnings = ["myst.header"]  # a record's page begins its sections where a table ends

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"vindeby {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .go"
