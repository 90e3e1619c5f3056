"""The site: built strictly, whole without a network; and its examples, run."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow

FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(?:https?:)?//"""
    r"""|<link(?![^>]*rel=["']?canonical)[^>]*\shref=["']?(?:https?:)?//"""
    r"""|(?:url\(|@import\s)["']?(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def pages() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(PROJECT / "tools" / "pages.py")))


def rerun(pages: SimpleNamespace, text: str) -> str:
    made, _ = pages.rerun(PROJECT / "docs" / "page.md", text, samples=True)
    assert isinstance(made, str)
    return made


@pytest.mark.long
def test_the_site_fetches_nothing(tmp_path: Path) -> None:
    """`make site` builds it without a warning too."""
    build = [sys.executable, "-m", "sphinx", "--fail-on-warning", "-q", "docs", str(tmp_path)]
    done = subprocess.run(build, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = sorted(each for each in tmp_path.rglob("*") if each.suffix in {".html", ".css"})
    assert tmp_path / "index.html" in files
    for file in files:
        assert not FETCHED.search(file.read_text(encoding="utf-8")), file


def test_output_is_made_anew_where_it_is_wrong_and_kept_where_it_is_right(
    pages: SimpleNamespace,
) -> None:
    """Also but for what is left out; text that is no output is left alone."""
    page = "```python\nn = 6\nprint(n)\nn * 7\n```\n\n```text\n{}```\n"
    assert rerun(pages, page.format("41\n")) == page.format("6\n42\n")
    page = "```python\nfor n in range(9):\n    print(n)\n```\n\n```text\n0\n...\n8\n```\n"
    assert rerun(pages, page) == page
    page = "```python\n6 * 7\n```\n\nIn words:\n\n```text\nforty-two\n```\n"
    assert rerun(pages, page) == page
    page = (
        "```console\n$ smfparse generate day.smf --count 1 --tasks 0\n```\n\n"
        "```sql\nSELECT count(*) AS logs FROM qjst\n```\n\n```text\n{}```\n"
    )
    assert rerun(pages, page.format("")) == page.format("| logs |\n|------|\n|    1 |\n")
    for block in (
        "console\n$ smfparse info MISSING.smf",
        "console\n$ rm DUMP.smf",
        "sql\nSELECT no_column FROM qjst",
        "python\n1 / 0",
    ):
        with pytest.raises((ValueError, ArithmeticError)):
            rerun(pages, f"```{block}\n```\n")


def test_pictures_are_compared_by_their_words(pages: SimpleNamespace) -> None:
    page = (
        "```python\nimport matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots()\n"
        'axes.set(title="Costs")\nfigure.savefig("x.svg")\n```\n\n![x](images/x.svg)\n'
    )
    found = pages.rerun(PROJECT / "docs" / "page.md", page, samples=False)[1]
    ((path, picture),) = found.items()
    assert path == PROJECT / "docs" / "images" / "x.svg"
    assert "Costs" in pages.words(picture)
    assert pages.words(picture.replace("Costs", "Waits")) != pages.words(picture)


def test_a_line_that_is_typed_ends_as_the_page_says() -> None:
    typed = SimpleNamespace(**runpy.run_path(str(PROJECT / "tools" / "typed.py")))
    block = "```console\nsmfparse generate made.smf --count 1\n{}\n$ no line\n```\n"
    for line in ("smfparse report log made.smf", "smfparse info NONE.txt  # exit code 8"):
        assert typed.try_lines(block.format(line)) == 2
    with pytest.raises(ValueError, match="exit code 2"):
        typed.try_lines(block.format("smfparse info DUMP.smf --no-such-option"))
    assert typed.try_lines("```text\nsmfparse info NONE.smf\n```\n") == 0
