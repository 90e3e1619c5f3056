"""Reports and views have the figures of tests/golden and of tests/facts/figures.csv.

tests/golden/README.md says where the goldens come from, and what to do when they differ.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from smfparse import reports
from smfparse.metrics import view_names
from tests.support import goldens
from tests.support.corpora import Corpora
from tests.support.paths import FACTS, GOLDEN
from tests.support.report_runs import check_forms, check_sections

pytestmark = pytest.mark.slow

with (FACTS / "figures.csv").open(encoding="utf-8", newline="") as _file:
    WORKED_OUT = list(csv.DictReader(_file))
"""Figures that were worked out by hand from the bytes of a corpus."""


@pytest.mark.parametrize(("name", "corpus"), [(name, corpus) for corpus, name in goldens.REPORTS])
def test_a_report_has_its_golden_rows_and_the_figures_worked_out_by_hand(
    name: str, corpus: str, corpora: Corpora
) -> None:
    which = reports.report(name)
    rows = goldens.rows_by_case(corpora, corpus, name)
    for case in goldens.cases(corpus, name):
        check_forms(which, rows[case.name][:100], **case.asked)
        check_sections(rows[case.name])
    if name in KINDS and corpus == "site":
        check_kinds(name, rows["declared"])
    wrong = []
    for want in WORKED_OUT:
        if (want["report"], want["corpus"]) == (name, corpus):
            mine = [row for row in rows[want["case"]] if is_of(row, want["row"])]
            found = [row[want["figure"]] for row in mine]
            if len(found) != 1 or not math.isclose(found[0], float(want["value"]), rel_tol=1e-9):
                wrong.append((found, want))
    assert not wrong
    assert goldens.difference(
        GOLDEN / corpus / f"{name}.json", goldens.of_report(name, rows)
    ) is None  # fmt: skip


KINDS = {
    "api-cost": ["verb", "total", "task", "cf", "class 1"],
    "smf-volume": ["type", "all", "tasks", "projection", "cost", "class 3", "class 5"],
    "stg": ["requests", "regions", "pool", "getmain"],
    "streaming": ["queue", "cost", "topic", "stream", "queue manager", "plan", "log", "adapters"],
    "task": ["task", "latch", "cf", "queue", "queue cf"],
}
ABOUT = {"task": ("token", "objname", "base")}
"""What lines are about that come together, besides their section."""


def check_kinds(name: str, rows: list[dict[str, Any]]) -> None:
    """Lines of a kind come together, and kinds in their order."""
    assert {row["line"] for row in rows} == {*KINDS[name]}
    found: dict[str, list[int]] = {}
    for row in rows:
        about = repr([row["section"], *(row[each] for each in ABOUT.get(name, ()))])
        found.setdefault(about, []).append(KINDS[name].index(row["line"]))
    assert max(len({*kinds}) for kinds in found.values()) > 1
    assert all(kinds == sorted(kinds) for kinds in found.values())


def is_of(row: dict[str, Any], key: str) -> bool:
    """Whether a row has the values of a key, such as `qmgr=MQ02; line=queue`."""
    told = dict(each.split("=", 1) for each in key.split("; "))
    return all(str(row[name]) == value for name, value in told.items())


def test_every_report_has_figures_worked_out_by_hand() -> None:
    """Those of cluster are in test_traffic.py."""
    counts = Counter(row["report"] for row in WORKED_OUT)
    assert {*counts} == {*reports.report_names()} - {"cluster"}
    assert min(counts.values()) >= 5


@pytest.mark.parametrize("name", view_names())
def test_the_rows_of_a_view_are_the_golden(name: str, corpora: Corpora) -> None:
    found = goldens.of_view(corpora, name)
    assert goldens.difference(GOLDEN / "views" / f"{name}.json", found) is None


@pytest.mark.parametrize(("corpus", "name"), goldens.TEXTS_OF)
def test_the_text_and_the_csv_of_a_report_are_the_golden(
    corpus: str, name: str, corpora: Corpora
) -> None:
    found = goldens.text_of(corpora, corpus, name)
    assert found == (GOLDEN / "texts" / f"{name}.txt").read_text("utf-8")


def test_no_golden_is_left_of_what_is_gone(corpora: Corpora, tmp_path: Path) -> None:
    found = {each for each in GOLDEN.rglob("*") if each.suffix in (".json", ".txt")}
    files = {each for each in found if not each.name.startswith("published-")}
    assert files == {place for place, _ in goldens.every_golden(corpora, tmp_path)}


AT = "case sections 1 rows 1 (MQ01) a: the golden has 1.0, not"


@pytest.mark.parametrize(
    ("count", "rows", "said"),
    [
        (2, [{"qmgr": "MQ01", "a": 1.0}], "case count: the golden has 1, not 2"),
        (1, [{"qmgr": "MQ01", "a": 1.5}], f"{AT} 1.5"),
        (1, [{"qmgr": "MQ01"}], f"{AT} None"),
        (1, [{"qmgr": "MQ01", "a": 1}], f"{AT} 1;"),
        (1, [], "case sections 1 rows: the golden has 1 rows, not 0 rows"),
    ],
)
def test_the_first_difference_is_named(
    count: int, rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    golden = {"case": {"count": 1, "sections": [{"rows": [{"qmgr": "MQ01", "a": 1.0}]}]}}
    file = tmp_path / "golden.json"
    file.write_text(goldens.written(golden), "utf-8")
    assert goldens.difference(file, golden) is None
    found = {"case": {"count": count, "sections": [{"rows": rows}]}}
    assert said in str(goldens.difference(file, found))
    assert "make goldens" in str(goldens.difference(tmp_path / "none.json", golden))
