"""Reports with several kinds of lines: in which order the kinds come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smfparse import reports
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from tests.support.small_site import write_small_site

pytestmark = pytest.mark.slow

KINDS = {
    "api-cost": ["verb", "total", "task", "cf", "class 1"],
    "smf-volume": ["type", "all", "tasks", "projection", "cost", "class 3", "class 5"],
    "stg": ["requests", "regions", "pool", "getmain"],
    "streaming": ["queue", "cost", "topic", "stream", "queue manager", "plan", "log", "adapters"],
    "task": ["task", "latch", "cf", "queue", "queue cf"],
}
ABOUT = {"task": ("token", "objname", "base")}
"""What lines are about that come together, besides their section."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    path: Path = write_small_site(tmp_path_factory.mktemp("small") / "small.smf")
    with Catalog(open_inputs([path])) as catalog:
        yield catalog


@pytest.mark.parametrize("name", KINDS)
def test_lines_of_a_kind_come_together_and_kinds_in_their_order(small: Catalog, name: str) -> None:
    rows = list(reports.run_report(reports.report(name), small, TOTAL))
    assert {row["line"] for row in rows} == {*KINDS[name]}
    found: dict[str, list[int]] = {}
    for row in rows:
        about = repr([row["section"], *(row[each] for each in ABOUT.get(name, ()))])
        found.setdefault(about, []).append(KINDS[name].index(row["line"]))
    assert max(len({*kinds}) for kinds in found.values()) > 1
    for kinds in found.values():
        assert kinds == sorted(kinds)
