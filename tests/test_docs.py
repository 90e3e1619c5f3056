"""The documentation is true: its examples run, its generated parts are what the code says."""

from __future__ import annotations

import doctest
import re

import pytest

from tests.support.paths import PROJECT

pytestmark = pytest.mark.slow

PAGES = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md"), *PROJECT.glob("fixtures/*.md")]
)


def test_the_links_of_pages_lead_somewhere_and_their_doctests_pass() -> None:
    lost = [
        (page.name, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert lost == []
    example = PROJECT / "docs" / "adding-a-block.md"
    assert doctest.testfile(str(example), module_relative=False).failed == 0
    others = [page for page in PAGES if ">>> " in page.read_text("utf-8")]
    assert others == [example]


def test_the_example_of_a_new_block_is_a_block() -> None:
    text = (PROJECT / "docs" / "adding-a-block.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(re.sub(r"^    ", "", found[1], flags=re.MULTILINE), names)
    built = names["QXYZ"].build({"qxyzreqs": 1, "qxyznew": 2})  # type: ignore[attr-defined]
    assert len(built) == 44
    assert names["QXYZ"].parse(built[:40])["qxyznew"] is None  # type: ignore[attr-defined]


def test_every_promise_of_the_security_page_is_held_by_a_test() -> None:
    text = (PROJECT / "docs/security.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    promises = [row for row in rows if not row.startswith("| **")]
    assert len(promises) >= 15
    for row in promises:
        assert re.search(r"`tests/[a-z_/]+\.py`|all of these", row), row
    for path in re.findall(r"`(tests/[a-z_/]+\.py)`", text):
        assert (PROJECT / path).is_file(), path
