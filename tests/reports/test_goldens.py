"""Reports and views have the figures of tests/golden and of tests/facts/figures.csv.

tests/golden/README.md says where the goldens come from, and what to do when they differ.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from smfparse.metrics.views import view_names
from smfparse.reports.declaration import report, report_names
from tests.support import goldens
from tests.support.corpora import Corpora
from tests.support.paths import FACTS, GOLDEN
from tests.support.report_runs import check_forms, check_sections

pytestmark = pytest.mark.slow

with (FACTS / "figures.csv").open(encoding="utf-8", newline="") as _file:
    WORKED_OUT = list(csv.DictReader(_file))
"""Figures that were worked out by hand from the bytes of a corpus."""


@pytest.mark.parametrize(("name", "corpus"), [(name, corpus) for corpus, name in goldens.REPORTS])
def test_a_report_has_its_golden_rows_and_text_and_the_figures_worked_out_by_hand(
    name: str, corpus: str, corpora: Corpora
) -> None:
    which, rows = report(name), goldens.rows_by_case(corpora, corpus, name)
    for case in goldens.cases(corpus, name):
        check_sections(rows[case.name])
        if not case.sections and not case.selected:
            check_forms(which, rows[case.name][:50], **case.asked)
    wrong = []
    for want in WORKED_OUT:
        if (want["report"], want["corpus"]) == (name, corpus):
            mine = [row for row in rows[want["case"]] if is_of(row, want["row"])]
            found = [row[want["figure"]] for row in mine]
            if len(found) != 1 or not math.isclose(found[0], float(want["value"]), rel_tol=1e-9):
                wrong.append((found, want))
    assert not wrong
    golden = goldens.of_report(name, rows)
    assert goldens.difference(GOLDEN / corpus / f"{name}.json", golden) is None
    if (corpus, name) in goldens.TEXTS_OF:
        known = {
            corpus: SimpleNamespace(paths=corpora[corpus].paths, rows=lambda _: rows["declared"])
        }
        text = goldens.text_of(cast(Any, known), corpus, name)
        assert text == (GOLDEN / "texts" / f"{name}.txt").read_text("utf-8")


def is_of(row: dict[str, Any], key: str) -> bool:
    """Whether a row has the values of a key, such as `qmgr=MQ02; line=queue`."""
    told = dict(each.split("=", 1) for each in key.split("; "))
    return all(str(row[name]) == value for name, value in told.items())


def test_every_report_has_figures_worked_out_by_hand() -> None:
    """Those of cluster are in test_traffic.py."""
    counts = Counter(row["report"] for row in WORKED_OUT)
    assert {*counts} == {*report_names()} - {"cluster"}
    assert min(counts.values()) >= 5


@pytest.mark.parametrize("name", view_names())
def test_the_rows_of_a_view_are_the_golden(name: str, corpora: Corpora) -> None:
    found = goldens.of_view(corpora, name)
    assert goldens.difference(GOLDEN / "views" / f"{name}.json", found) is None


@pytest.mark.parametrize("corpus", goldens.JUDGED)
def test_what_rules_judge_and_planners_measure_is_the_golden(corpus: str, corpora: Corpora) -> None:
    found = goldens.of_judged(corpora, corpus)
    assert goldens.difference(GOLDEN / "judged" / f"{corpus}.json", found) is None


def test_columns_of_reports_of_dense_data_are_the_golden(corpora: Corpora) -> None:
    assert goldens.difference(GOLDEN / "dense.json", goldens.of_dense(corpora)) is None


def test_no_golden_is_left_of_what_is_gone(corpora: Corpora, tmp_path: Path) -> None:
    found = {each for each in GOLDEN.rglob("*") if each.suffix in (".json", ".txt")}
    files = {each for each in found if not each.name.startswith("published-")}
    assert files == {place for place, _ in goldens.every_golden(corpora, tmp_path)}


def test_the_first_difference_is_named(tmp_path: Path) -> None:
    def golden(count: int, *rows: dict[str, Any]) -> dict[str, Any]:
        return {"case": {"count": count, "sections": [{"rows": [*rows]}]}}

    file, row = tmp_path / "golden.json", {"qmgr": "MQ01", "a": 1.0}
    file.write_text(goldens.written(golden(1, row)), "utf-8")
    assert goldens.difference(file, golden(1, row)) is None
    for found, said in (
        (golden(2, row), "case count: the golden has 1, not 2"),
        (golden(1, row | {"a": 1.5}), "rows 1 (MQ01) a: the golden has 1.0, not 1.5"),
        (golden(1), "case sections 1 rows: the golden has 1 rows, not 0 rows"),
    ):
        assert said in str(goldens.difference(file, found))
