"""The shell of a page: a head whose policy lets in its own script and style, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from smfparse.rendering.guard import visible

_ASSETS = Path(__file__).with_name("assets")
TABLES = _ASSETS / "tables.js"
"""The script by which the tables of a page, of the class `data`, sort, filter and are saved."""
BASE = _ASSETS / "base.css"
"""The style that all pages share: colours, light and dark, tables and buttons."""
DOCUMENT = _ASSETS / "document.css"
"""The style of a page of sections with tables."""


def escaped(text: str) -> str:
    """Return a text of one line that means nothing but itself."""
    return html.escape(visible(text))


@cache
def joined(files: tuple[Path, ...]) -> str:
    """Return what several files hold, as it stands in a page."""
    return "\n".join(each.read_text("utf-8").strip() for each in files)


def head_lines(title: str, script: str, style: str) -> Iterator[str]:
    """Yield the lines of a page up to where its body begins.

    script  the one that its body will have
    """
    yield from (
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escaped(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
    )


def policy(script: str, style: str) -> str:
    """Return the policy of a page: nothing but this script and this style, and no network."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
