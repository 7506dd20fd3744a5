"""How Sphinx builds the documentation: `make docs`, then open build/docs/docs/index.html.

The sources begin at the project's folder, so that the links of its own pages are checked too.
"""

project = "benchc"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [".*", "build", "reference", "results", "src", "docs/api/modules.rst"]
html_theme = "alabaster"

extensions = ["myst_parser", "sphinx.ext.apidoc", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
apidoc_modules = [
    {
        "path": "../src/benchc",
        "destination": "docs/api",
        # Commands document themselves by --help.
        "exclude_patterns": ["../src/benchc/cli.py", "../src/benchc/*/command.py"],
        "separate_modules": True,
        "module_first": True,
        "automodule_options": {"members", "show-inheritance"},
    }
]
autodoc_default_options = {"ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# A single backtick is code, as in Markdown.
default_role = "code"
# What stands before a colon in `Returns:` is prose as often as a type.
napoleon_use_rtype = False
myst_heading_anchors = 3

# Names of this package must resolve. Those of others do not: the build needs no network.
_OTHERS = (
    "PIL|altair|annotated_types|collections|datasets|datetime|_duckdb|enum|httpx2|huggingface_hub"
    "|numpy|open_clip|openai|pathlib|polars|pydantic|torch|transformers|trl|types|urllib3"
)
nitpick_ignore_regex = [
    ("py:.*", rf"({_OTHERS})\..*"),
    # What Sphinx makes of annotations that it reads as text.
    ("py:obj", r"typing\..*"),
    ("py:class", r"pl\..*"),
    # What Sphinx makes of pydantic's constraints and of a default factory.
    ("py:class", r"FieldInfo|NoneType|Ge|_Pydantic\w+|.*\._\w+|.*\[.*"),
]
# ARCHITECTURE.md holds a picture that GitHub draws.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app):
    """Register what follows."""
    app.connect("autodoc-process-docstring", keep_whole, priority=400)


def keep_whole(app, what, name, obj, options, lines):
    """Let Napoleon take nothing in the first line of an attribute for its type."""
    if what in {"attribute", "data", "property"} and any(lines):
        lines[:0] = ["..", ""]
