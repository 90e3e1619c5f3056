"""A real browser: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="no Chromium (apt-get install chromium), or no Playwright: see CONTRIBUTING",
)


@contextmanager
def launched() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def silent(browser: Any, url: str) -> Iterator[Any]:
    """Give a new tab for a page; fail if it logs anything or asks for anything else."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if asked.url != url else None)
    yield page
    page.close()
    assert [each for each in said if not each.startswith(("blob:", "data:"))] == []
