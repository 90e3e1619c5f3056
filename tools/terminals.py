"""Pictures of terminals: what a command prints there, with its colours, as a page of HTML."""

from __future__ import annotations

import html
import re

_COLOURS = {
    "1": "font-weight:bold",
    "1;31": "font-weight:bold;color:#c01c28",
    "33": "color:#9a6700",
    "36": "color:#0b7285",
    "2": "color:#6b7280",
}
_PART = re.compile(r"\x1b\[([\d;]*)m(.*?)\x1b\[0m", re.S)
_STYLE = """
body { margin: 0; padding: 14px; background: #f3f4f6; width: max-content; }
pre { margin: 0; padding: 14px 18px; background: #fff; border: 1px solid #d1d5db;
  border-radius: 8px; font: 13px/1.35 "DejaVu Sans Mono", monospace; color: #111827; }
"""


def page(command: str, printed: str) -> str:
    """Return a page that shows a command and what it printed, as a light terminal does."""
    shown = _PART.sub(
        lambda found: f'<span style="{_COLOURS.get(found[1], "")}">{found[2]}</span>',
        html.escape(printed),
    )
    text = f"<b>$ {html.escape(command)}</b>\n{shown}"
    return f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style><pre>{text}</pre>'
