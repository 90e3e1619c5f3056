"""The documentation is true: its examples run, its generated parts are what the code says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow

PAGES = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md"), *PROJECT.glob("fixtures/*.md")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_example_of_a_new_block_is_a_block() -> None:
    text = (PROJECT / "docs" / "adding-a-block.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(re.sub(r"^    ", "", found[1], flags=re.MULTILINE), names)
    built = names["QXYZ"].build({"qxyzreqs": 1, "qxyznew": 2})  # type: ignore[attr-defined]
    assert len(built) == 44
    assert names["QXYZ"].parse(built[:40])["qxyznew"] is None  # type: ignore[attr-defined]
