#!/usr/bin/env python3
"""Take the pictures of the docs, in Chromium: the dashboard and terminals of simulated days.

    tools/pictures.py [NAME...]

They are not compared by tests, because they depend on the fonts of the machine. Needs chromium, and
playwright and pillow as the extra `dev` brings them.
"""

from __future__ import annotations

import html
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from PIL import Image
from playwright.sync_api import sync_playwright

import smfparse
from smfparse.cli import main as commands

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
IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
_SIZE = {"width": 1240, "height": 860}
_ROWS = 34
"""Lines of a terminal that are shown."""
_PALETTE = 160
"""So many colours keep a picture below 200 KB, and are enough for lines and text."""


def terminal_page(command: str, printed: str) -> str:
    """Return a page that shows a command and what it printed, as a light terminal does."""
    shown = _PART.sub(
        lambda found: f'<span style="{_COLOURS.get(found[1], "")}">{found[2]}</span>',
        html.escape(printed),
    )
    text = f"<b>$ {html.escape(command)}</b>\n{shown}"
    return f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style><pre>{text}</pre>'


def _finding(page: Any) -> None:
    page.locator(".manager.shown .incident .zoom").first.click()
    page.wait_for_timeout(300)


def _queues(page: Any) -> None:
    page.locator("#m0-queues").evaluate("part => scrollTo(0, part.offsetTop - 130)")
    page.wait_for_timeout(500)


PICTURES: Mapping[str, tuple[str, str, Callable[[Any], None] | None]] = {
    "dashboard": ("log-slow", "light", None),
    "dashboard-finding": ("log-slow", "dark", _finding),
    "dashboard-queues": ("backlog", "light", _queues),
}
"""Of each picture the scenario, the colours, and what is done before."""
TERMINALS = ("summary", "check")
"""Commands that are run on the first scenario, each a picture of a terminal."""


def _generate(day: Path, scenario: str) -> None:
    arguments = ["generate", str(day), "--scenario", scenario]
    CliRunner().invoke(commands, arguments, catch_exceptions=False)


def taken(name: str, folder: Path) -> None:
    """Take the picture of a page of a scenario."""
    scenario, scheme, act = PICTURES[name]
    day, page = (folder / f"{scenario}.{end}" for end in ("smf", "html"))
    if not page.exists():
        _generate(day, scenario)
        smfparse.open(day).dashboard(page)
    with _tab(page, viewport=_SIZE, color_scheme=scheme) as tab:
        tab.locator("html[data-ready=true]").wait_for()
        if act:
            act(tab)
        _save(name, tab.screenshot())


def terminal_taken(command: str, folder: Path) -> None:
    """Take the picture of a terminal after a command, in a folder that has day.smf."""
    code = "from smfparse.cli import command_line; command_line()"
    arguments = [sys.executable, "-c", code, command, "day.smf", "--color"]
    shown = subprocess.check_output(arguments, cwd=folder, encoding="utf-8")
    page = folder / "terminal.html"
    printed = "".join(shown.splitlines(keepends=True)[:_ROWS])
    page.write_text(terminal_page(f"smfparse {command} day.smf", printed), "utf-8")
    with _tab(page, device_scale_factor=1.5) as tab:
        _save(command, tab.locator("pre").screenshot())


@contextmanager
def _tab(page: Path, **options: Any) -> Iterator[Any]:
    with sync_playwright() as playwright:
        found = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        tab = browser.new_page(**options)
        tab.goto(page.as_uri())
        yield tab
        browser.close()


def _save(name: str, picture: bytes) -> None:
    small = Image.open(io.BytesIO(picture)).convert("RGB").quantize(_PALETTE)
    small.save(IMAGES / f"{name}.png", optimize=True)


def main() -> None:
    """Take all pictures, or those that are named."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in sys.argv[1:] or [*PICTURES, *TERMINALS]:
            if name in PICTURES:
                taken(name, folder)
            else:
                _generate(folder / "day.smf", "log-slow")
                terminal_taken(name, folder)
    sys.stdout.write(f"pictures: {IMAGES}\n")


if __name__ == "__main__":
    main()
