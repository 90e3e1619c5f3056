#!/usr/bin/env python3
"""Take the pictures of the docs, in Chromium: the dashboard and terminals of simulated days.

    tools/pictures.py [NAME...]

They are not compared by tests, because they depend on the fonts of the machine. Needs chromium, and
playwright and pillow as the extra `dev` brings them.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import terminals
from click.testing import CliRunner
from PIL import Image
from playwright.sync_api import sync_playwright

import smfparse
from smfparse.cli import main as commands

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
_SIZE = {"width": 1240, "height": 860}
_ROWS = 34
"""Lines of a terminal that are shown."""
_COLOURS = 160
"""So many colours keep a picture below 200 KB, and are enough for lines and text."""


def _day(page: Any) -> None:
    """The page as it opens."""


def _finding(page: Any) -> None:
    """The charts to which a click on the incident leads."""
    page.locator(".manager.shown .incident .zoom").first.click()
    page.wait_for_timeout(300)


def _queues(page: Any) -> None:
    """The heat maps of queues."""
    page.locator("#m0-queues").evaluate("part => scrollTo(0, part.offsetTop - 130)")
    page.wait_for_timeout(500)


PICTURES: Mapping[str, tuple[str, str, Callable[[Any], None]]] = {
    "dashboard": ("log-slow", "light", _day),
    "dashboard-finding": ("log-slow", "dark", _finding),
    "dashboard-queues": ("backlog", "light", _queues),
}
"""Of each picture the scenario, the colours, and what is done before."""


def _generate(day: Path, scenario: str) -> None:
    """Write the day of a scenario."""
    arguments = ["generate", str(day), "--scenario", scenario]
    CliRunner().invoke(commands, arguments, catch_exceptions=False)


def taken(scenario: str, scheme: str, act: Callable[[Any], None], folder: Path) -> Path:
    """Return the picture of a page of a scenario."""
    day, page, picture = (folder / f"{scenario}.{end}" for end in ("smf", "html", "png"))
    if not page.exists():
        _generate(day, scenario)
        smfparse.open(day).dashboard(page)
    with _browser() as browser:
        tab = browser.new_page(viewport=_SIZE, color_scheme=scheme)
        tab.goto(page.as_uri())
        tab.locator("html[data-ready=true]").wait_for()
        act(tab)
        tab.screenshot(path=picture)
    return picture


TERMINALS: Mapping[str, Sequence[str]] = {
    "summary": ("summary", "day.smf"),
    "check": ("check", "day.smf"),
}
"""Of each picture of a terminal the command, which is run on the first scenario."""


def terminal_taken(arguments: Sequence[str], folder: Path) -> Path:
    """Return the picture of a terminal after a command, in a folder that has day.smf."""
    code = "from smfparse.cli import command_line; command_line()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--color"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    page, picture = (folder / f"terminal.{end}" for end in ("html", "png"))
    printed = "".join(done.stdout.splitlines(keepends=True)[:_ROWS])
    page.write_text(terminals.page(shlex.join(["smfparse", *arguments]), printed), "utf-8")
    with _browser() as browser:
        tab = browser.new_page(device_scale_factor=1.5)
        tab.goto(page.as_uri())
        tab.locator("pre").screenshot(path=picture)
    return picture


@contextmanager
def _browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


def _save(name: str, picture: Path) -> None:
    """Keep a picture, small."""
    small = Image.open(picture).convert("RGB").quantize(_COLOURS)
    small.save(IMAGES / f"{name}.png", optimize=True)


def main() -> None:
    """Take all pictures, or those that are named."""
    with tempfile.TemporaryDirectory() as place:
        folder, wanted = Path(place), sys.argv[1:]
        for name, (scenario, scheme, act) in PICTURES.items():
            if not wanted or name in wanted:
                _save(name, taken(scenario, scheme, act, folder))
        shown = [name for name in TERMINALS if not wanted or name in wanted]
        if shown:
            _generate(folder / "day.smf", "log-slow")
        for name in shown:
            _save(name, terminal_taken(TERMINALS[name], folder))
    sys.stdout.write(f"pictures: {IMAGES}\n")


if __name__ == "__main__":
    main()
