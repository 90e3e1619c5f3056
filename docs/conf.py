"""How Sphinx builds the site of these pages: `make site`. All that they show comes with them."""

project = "smfparse"
html_title = "smfparse"
language = "en"
exclude_patterns = ["conf.py", "notebooks"]

extensions = ["myst_parser"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # of DuckDB's {'name': value}, no SQL to Pygments

html_theme = "furo"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
