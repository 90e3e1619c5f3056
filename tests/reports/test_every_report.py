"""What holds for every report, on every fixture and real file, from a file and from its dataset.

test_goldens.py holds more of it: each report is written there in every format.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from smfparse.decoding.dictionary import TABLES, columns
from smfparse.errors import RequestError
from smfparse.inputs.opening import open_inputs
from smfparse.layout.clocks import Duration
from smfparse.reports.declaration import EVIDENCE, report, report_names
from smfparse.reports.running import explain
from smfparse.reports.sections import RECORDED, TEMPLATE_KEYS, TOTAL, Sections, every
from smfparse.writing.dataset import write_dataset
from tests.support.generated import generate_dump
from tests.support.paths import PROJECT
from tests.support.real import FILES
from tests.support.report_runs import check_forms, check_sections, printed, report_rows
from tests.support.searching import of_many, pairs, some

pytestmark = pytest.mark.slow

NAMES = report_names()
ALL = [report(name) for name in NAMES]
OF_TRAFFIC = {"mft", "requests"}
"""Reports that have rows only where names or counts of queues agree; generated ones do not."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def converted(path: Path) -> Path:
        target: Path = tmp_path_factory.mktemp("datasets") / path.name
        write_dataset(open_inputs([path]), target)
        return target

    return converted


def placeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out by which number an input is told from others."""
    return [row | {"section": {**row["section"], "input_no": 0}} for row in rows]


@pytest.mark.sampled(3)
@of_many(
    "name, path", some(pairs(NAMES, FILES), 6), ids=lambda value: getattr(value, "name", value)
)
def test_a_report_of_a_file_is_that_of_its_dataset(name: str, path: Path, dataset: Any) -> None:
    rows = report_rows(name, path)
    assert placeless(report_rows(name, dataset(path))) == placeless(rows)
    check_forms(report(name), rows)


@of_many("name", some(NAMES, 1))
def test_the_rows_of_a_section_stand_together_where_two_inputs_have_the_same_records(
    name: str, dataset: Any, tmp_path: Path
) -> None:
    once = dataset(FILES[0])
    check_sections(report_rows(name, once, Path(shutil.copytree(once, tmp_path / "copy"))))


@pytest.mark.sampled(5)
@of_many("name, sections", some(pairs(NAMES, [every("1h"), RECORDED, TOTAL]), 13), ids=str)
def test_figures_without_meaning_stop_no_report(name: str, sections: Sections, dense: Path) -> None:
    rows = report_rows(name, dense, sections=sections)
    assert bool(rows) == (name not in OF_TRAFFIC)
    check_forms(report(name), rows)


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump whose counters, times and flags mean nothing and have their full width."""
    made = {"qmgrs": ["QM01"], "version": "10.0.0", "seed": 3, "tasks": 3, "queues": 2}
    return generate_dump(tmp_path_factory.mktemp("dense") / "dense.smf", **made, dense=True)


def test_every_figure_has_a_name_a_heading_and_a_formula_of_its_own() -> None:
    """test_declarations.py has what a declaration is refused for."""
    for which in ALL:
        for own in ([each.name for each in which.figures], [each.csv for each in which.figures]):
            known = [each for each in own if each]
            assert len({*known}) == len(known), which.name
        assert all(each.formula for each in which.figures), which.name
        shown = set(re.findall(r"\{\??(\w+)[:}]", "".join(which.text.values())))
        assert shown - {*TEMPLATE_KEYS} <= {each.name for each in which.figures}, which.name
        assert which.choices.keys() <= which.options.keys(), which.name


def test_a_report_without_data_is_its_header_and_explains_its_figures() -> None:
    for which in ALL:
        *heading, title = printed(which, [], "text")
        assert title == which.title
        assert bool(heading) == (which.name in ("class1", "dchssum", "qall", "qsum"))
        header, *more = printed(which, [], "csv")
        assert header
        assert not more
        assert json.loads("\n".join(printed(which, [], "json")))["rows"] == []
        assert "START TRACE(" in which.absent()
        told = list(explain(which))
        assert which.trace in told[1]
        for each in which.figures:
            place = told.index(f"{each.csv or each.name} [{each.name}] = {each.formula}")
            assert EVIDENCE[each.evidence] in told[place + 1]


def test_the_dd_names_of_mp1b_are_names_of_reports_and_no_two_have_one_in_common() -> None:
    page = (PROJECT / "docs" / "coming-from-mp1b.md").read_text("utf-8")
    named = dict(re.findall(r"^\| ([A-Z0-9, ]+) \| `([a-z0-9-]+)` \|", page, re.M))
    named |= {"QPUTSCSV": "qputs", "QGETSCSV": "qgets"}  # they are on one line there
    found = {dd: name for names, name in named.items() for dd in names.split(", ")}
    assert found == {dd: which.name for which in ALL for dd in which.dd}
    for dd, name in found.items():
        assert report(dd).name == report(dd.lower()).name == name
    taken = [dd for which in ALL for dd in {which.name.upper(), *which.dd}]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("length", ["", "5", "7m", "0m", "-1m", "m", "25h", "1w"])
def test_a_length_that_is_none_or_does_not_divide_a_day_is_refused(length: str) -> None:
    with pytest.raises(RequestError, match="30s, 15m, 1h"):
        every(length)


COUNTED = {
    (table, column.name): column.field.kind.counter
    for table in TABLES
    for column in TABLES[table].columns
    if isinstance(column.field.kind, Duration) and column.field.kind.counter is not None
}
"""What counts each time that is divided by a count, by table and time."""


def test_no_report_divides_a_time_by_all_that_was_counted() -> None:
    """A time that is not known is left out: that is by `getn`, `getet_n` is without it."""
    assert len(COUNTED) > 60
    for (table, _), counter in COUNTED.items():
        assert counter in {each.name for each in columns(table)}
    pairs = {(time, counter) for (_, time), counter in COUNTED.items()}
    for path in (PROJECT / "smfparse" / "reports").rglob("*.sql"):
        text = path.read_text("utf-8")
        assert pairs.isdisjoint(re.findall(r"\b(\w+)\)? / nullif\((?:sum\()?(\w+)", text)), path
