"""The page of a report in a real browser: its tables are filtered under its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import needs_chromium, silent
from tests.support.command import run
from tests.support.generated import generate_dump

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    day = generate_dump(folder / "day.smf", count=1)
    options = ("--total", "--format", "html", "--output", folder / "page.html")
    assert run("report", "api-cost", day, *options).exit_code == 0
    return (folder / "page.html").as_uri()


def test_a_filter_leaves_rows_with_its_words_and_csv_saves_them(browser: Any, url: str) -> None:
    with silent(browser, url) as page:
        page.goto(url)
        page.locator(".filter").first.fill("put1")
        assert page.locator("tbody tr:visible").filter(has_text="put1").count() > 0
        with page.expect_download() as saved:
            page.locator(".csv").first.click()
        lines = Path(saved.value.path()).read_text().splitlines()
    assert len(lines) > 1
    assert all("put1" in each for each in lines[1:])


def test_it_needs_no_scripts(browser: Any, url: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(url)
    assert page.locator("tbody tr:visible").count() > 2
    assert page.locator("button").count() == 0
