"""The documentation is true: its examples run, what it names exists; its site fetches nothing."""

from __future__ import annotations

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import click
import pytest

from smfparse.advice import declaration
from smfparse.advice.declaration import diagnoses
from smfparse.cli import main
from smfparse.planning.plans import planner_names
from tests.support.paths import PROJECT

PAGES = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md"), *PROJECT.glob("fixtures/*.md")]
)
TESTS = [*(PROJECT / "tests").rglob("test_*.py")]


def page(name: str) -> str:
    return (PROJECT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_links_of_pages_lead_somewhere_and_their_doctests_pass() -> None:
    lost = [
        (each.name, target)
        for each in PAGES
        for target in re.findall(r"\]\(([^)#:]+)\)", each.read_text(encoding="utf-8"))
        if not (each.parent / target).exists()
    ]
    assert lost == []
    example = PROJECT / "docs" / "extending.md"
    assert doctest.testfile(str(example), module_relative=False).failed == 0
    assert [each for each in PAGES if ">>> " in each.read_text("utf-8")] == [example]


@pytest.mark.slow
def test_the_example_of_a_new_block_is_a_block() -> None:
    found = re.search(r"```python\n(.*?)```", page("extending.md"), re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(re.sub(r"^    ", "", found[1], flags=re.MULTILINE), names)
    built = names["QXYZ"].build({"qxyzreqs": 1, "qxyznew": 2})  # type: ignore[attr-defined]
    assert len(built) == 44
    assert names["QXYZ"].parse(built[:40])["qxyznew"] is None  # type: ignore[attr-defined]


def test_every_promise_about_untrusted_files_is_held_by_a_test() -> None:
    """input.md lists the promises, decisions.md the same ones with their tests."""
    promised = page("input.md").partition("### Guarantees")[2].partition("\n### ")[0]
    promises = [line[2:].rstrip(".") for line in promised.splitlines() if line.startswith("* ")]
    text = page("decisions.md").partition("## Guarantees about untrusted files")[2]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[1:]] == promises
    assert len(promises) >= 15
    for row in rows[1:]:
        assert re.search(r"`tests/[a-z_/]+\.py`|all of these", row[1]), row
    for path in re.findall(r"`(tests/[a-z_/]+\.py)`", text):
        assert (PROJECT / path).is_file(), path


class Row(NamedTuple):
    """A row of docs/coverage.md."""

    number: str
    place: str
    claim: str
    answered: str
    mark: str
    missing: str


ROWS = [
    Row(*[cell.strip() for cell in line.strip("|").split("|")][:6])
    for line in page("coverage.md").splitlines()
    if re.match(r"\| \d+ \|", line)
]
CLAIMS = {
    number
    for path in TESTS
    for held in re.findall(r"^@pytest\.mark\.claim\((.*)\)", path.read_text("utf-8"), re.M)
    for number in held.split(", ")
}
"""The numbers of `pytest.mark.claim`, by reading the sources."""


def test_rows_of_coverage_have_numbers_and_marks_and_claims_are_answered() -> None:
    """Rows name planners by their names; a test holds every claim that a planner answers."""
    assert [each.number for each in ROWS] == [str(each + 1) for each in range(len(ROWS))]
    assert {each.mark for each in ROWS} <= {"y", "p", "n", "x", "k"}
    of_planner = re.compile(r"\bP(1[0-5]|[1-9])\b")
    assert [each for each in ROWS if of_planner.search(each.missing + each.answered)] == []
    assert {row.mark for row in ROWS if row.number in CLAIMS} <= {"y", "k"}
    planned = {row.number for row in ROWS if "capacity" in row.answered and row.mark == "y"}
    assert planned <= CLAIMS <= {row.number for row in ROWS}


def test_planners_options_rules_and_tests_that_rows_of_coverage_name_exist() -> None:
    commands = cast(click.Group, main.commands["capacity"]).commands
    rules = {*declaration.rules(), *diagnoses()}
    for row in ROWS:
        for part in re.findall(r"\bcapacity [^;:]*", row.answered):
            names = re.findall(r"(?:capacity|,) ([a-z]+)\b", part)
            assert set(names) <= set(planner_names()), part
            known = {each for param in commands[names[0]].params for each in param.opts}
            assert set(re.findall(r"--[a-z-]+", part)) <= known, part
        for part in re.findall(r"check: ([^;]*)", row.answered):
            assert set(re.findall(r"\b(?:[A-Z]+(?:-[A-Z0-9]+)+|D\d+)\b", part)) <= rules, row
        assert set(re.findall(r"\btest_\w+", row.answered)) <= {each.stem for each in TESTS}, row


# The site ----------------------------------------------------------------------------------------

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


@pytest.mark.slow
def test_output_is_made_anew_where_it_is_wrong_and_kept_where_it_is_right(pages: SimpleNamespace):
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
