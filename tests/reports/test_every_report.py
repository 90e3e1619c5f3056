"""What holds for every report, on every fixture and real file, from a file and from its dataset."""

from __future__ import annotations

import copy
import csv
import datetime as dt
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from smfparse import reports
from smfparse.advice import answered_rows
from smfparse.errors import RequestError
from smfparse.inputs import open_inputs
from smfparse.layout import Combine
from smfparse.query import Catalog
from smfparse.rendering import FORMATS, STYLES, md
from smfparse.reports import RECORDED, TOTAL, Report, Sections, every
from smfparse.reports.sections import TEMPLATE_KEYS
from smfparse.tables import TABLES
from smfparse.writing import write_dataset
from tests.support.generated import generate_dump
from tests.support.real import FILES
from tests.support.report_runs import anyone, printed
from tests.support.searching import of_many, pairs
from tests.support.traffic import AGENTS, PAIR

pytestmark = pytest.mark.slow

FORMS = ("text", "csv", "json")
"""Formats that differ by report; the others get rows of one file."""
NAMES = reports.report_names()
STORED = [FILES[0], *(path for path in FILES if path.suffix == ".dat")]
"""Files that are converted as well: others have the same blocks, of other releases."""
OF_TRAFFIC = {"mft", "requests"}
"""Reports that have rows only where names or counts of queues agree; generated ones do not."""
MP1B = {
    "adap": "ADAP ADAPCSV",
    "buff": "BUFF BUFFCSV",
    "buffio": "BUFFIO",
    "cf": "CF CFCSV",
    "chinit": "CHINCSV CHINIT",
    "data": "DATA",
    "db2": "DB2",
    "dchs": "DCHS DCHSCSV",
    "dchssum": "DCHSSUM",
    "disp": "DISP DISPCSV",
    "dns": "DNS DNSCSV",
    "lock": "LOCK",
    "log": "LOG LOGBUSY LOGCSV",
    "message": "CMESSAGE MESSAGE",
    "msgm": "MSGM MSGMCSV",
    "pset": "PSET PSETCSV PSIOCSV",
    "qall": "QALL",
    "qgets": "QGETSCSV",
    "qputs": "QPUTSCSV",
    "qstat": "QSTAT QSTATCSV",
    "qsum": "QSUML QSUMS",
    "smds": "SMDS SMDSACSV SMDSBCSV SMDSSCSV",
    "ssl": "SSL SSLCSV",
    "stg": "STG STGCSV STGSUM",
    "task": "TASK TASKCSV",
    "tasksum": "TASKSUM",
    "topic": "TOPIC",
}
"""Reports, and the DD names of MP1B that each has."""


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Each file converted."""
    folder = tmp_path_factory.mktemp("datasets")
    made = {}
    for path in STORED:
        made[path] = folder / path.name
        write_dataset(open_inputs([path]), made[path])
    return made


class Rows:
    """Rows of reports over inputs, each opened once for all reports, and asked for once."""

    def __init__(self, opening: ExitStack) -> None:
        self._opening = opening
        self._catalogs: dict[tuple[Path, ...], Catalog] = {}
        self._found: dict[Any, list[dict[str, Any]]] = {}

    def of(self, name: str, *paths: Path, sections: Sections | None = None) -> list[dict[str, Any]]:
        key = name, paths, sections
        if key not in self._found:
            which, catalog = reports.report(name), self._catalog(paths)
            found = answered_rows(which, catalog, sections, **anyone(which))
            self._found[key] = [dict(row) for row in found]
        return copy.deepcopy(self._found[key])

    def _catalog(self, paths: tuple[Path, ...]) -> Catalog:
        if paths not in self._catalogs:
            self._catalogs[paths] = self._opening.enter_context(Catalog(open_inputs(paths)))
        return self._catalogs[paths]


@pytest.fixture(scope="module")
def rows_by() -> Iterator[Rows]:
    with ExitStack() as opening:
        yield Rows(opening)


def of_path(value: object) -> str | None:
    """Return how a path is called among the names of tests."""
    return value.name if isinstance(value, Path) else None


def placeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out by which number an input is told from others."""
    for row in rows:
        row["section"].pop("input_no", None)
    return rows


@of_many("name, path", pairs(NAMES, STORED), ids=of_path)
def test_a_report_of_a_file_is_that_of_its_dataset_in_every_form(
    name: str, path: Path, datasets: dict[Path, Path], rows_by: Rows
) -> None:
    which = reports.report(name)
    rows = placeless(rows_by.of(name, path))
    assert placeless(rows_by.of(name, datasets[path])) == rows
    check_forms(which, rows)


@of_many("name, path", pairs(NAMES, sorted({*FILES} - {*STORED})), ids=of_path)
def test_a_report_of_a_release_can_be_had_in_every_form(
    name: str, path: Path, rows_by: Rows
) -> None:
    check_forms(reports.report(name), rows_by.of(name, path))


def check_forms(which: Report, rows: list[dict[str, Any]]) -> None:
    """Write a report in each of FORMS; what is read back has a row and cell for all there is."""
    figures = {each.name for each in which.figures}
    assert all(figures <= row.keys() for row in rows[:1])
    text, table, objects = (list(printed(which, rows, form)) for form in FORMS)
    assert text
    lines = [row.get("line") or "" for row in rows]
    header, *cells = csv.reader(table)
    assert len(set(header)) == len(header)
    assert [len(row) for row in cells] == [len(header)] * sum(
        which.has(line, "csv") for line in lines
    )
    found = json.loads("\n".join(objects))
    assert found["report"] == which.name
    assert len(found["rows"]) == sum(which.has(line, "json") for line in lines)
    for row in found["rows"]:
        assert figures <= row.keys()


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What no fixture has: request and reply, and agents of Managed File Transfer."""
    path: Path = tmp_path_factory.mktemp("traffic") / "traffic.smf"
    path.write_bytes(b"".join([*PAIR, *AGENTS]))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_report_can_be_had_in_the_forms_of_every_result(
    name: str, rows_by: Rows, traffic: Path
) -> None:
    assert {*FORMATS} == {*FORMS, "jsonl", "md", "html"}
    which = reports.report(name)
    rows = rows_by.of(name, traffic if name in OF_TRAFFIC else FILES[0])
    title, *markdown = printed(which, rows, "md")
    assert title == f"# {md.escaped(f'{which.name}: {which.title}')}"
    *page, end = printed(which, rows, "html")
    assert end == "</html>"
    assert markdown
    assert page
    whole = json.loads("".join(printed(which, rows, "json")))
    lines = [json.loads(each) for each in printed(which, rows, "jsonl")]
    assert lines == [{"report": name} | each for each in whole["rows"]]


@pytest.fixture(scope="module")
def same(datasets: dict[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two datasets of one file."""
    second = tmp_path_factory.mktemp("copies") / "copy"
    return [datasets[FILES[0]], Path(shutil.copytree(datasets[FILES[0]], second))]


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_a_section_stand_together(
    name: str, same: list[Path], rows_by: Rows, traffic: Path
) -> None:
    """Also when two inputs have the same records."""
    rows = rows_by.of(name, *same, *([traffic] if name in OF_TRAFFIC else []))
    together = [section for section, _ in groupby(row["section"] for row in rows)]
    assert together
    assert all(section not in together[:place] for place, section in enumerate(together))


KINDS = [(FILES[0], TOTAL), (FILES[-1], every("1d")), (FILES[0], every("1m"))]


@of_many("name, kind", pairs(NAMES, KINDS))
def test_every_report_can_be_had_for_every_kind_of_section(
    name: str, kind: tuple[Path, Sections], rows_by: Rows
) -> None:
    path, sections = kind
    rows = rows_by.of(name, path, sections=sections)
    assert bool(rows) == bool(rows_by.of(name, path))
    check_forms(reports.report(name), rows)


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump whose counters, times and flags mean nothing and have their full width."""
    path = tmp_path_factory.mktemp("dense") / "dense.smf"
    generate_dump(path, qmgrs=["QM01"], version="10.0.0", seed=3, tasks=3, queues=2, dense=True)
    return path


@of_many("name, sections", pairs(NAMES, [every("1h"), RECORDED, TOTAL]))
def test_figures_without_meaning_stop_no_report(
    name: str, sections: Sections, dense: Path, rows_by: Rows
) -> None:
    rows = rows_by.of(name, dense, sections=sections)
    assert bool(rows) == (name not in OF_TRAFFIC)
    check_forms(reports.report(name), rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_declared_and_every_declared_one_is_there(name: str) -> None:
    which = reports.report(name)
    names = [each.name for each in which.figures]
    headers = [each.csv for each in which.figures if each.csv]
    assert len(set(names)) == len(names)
    assert len(set(headers)) == len(headers)
    for each in which.figures:
        assert each.style in STYLES, each.name
        assert each.evidence in reports.EVIDENCE, each.name
        assert each.formula, each.name
    shown = set(re.findall(r"\{\??(\w+)[:}]", "".join(which.text.values())))
    shown |= {column[0] for block in which.blocks.values() for column in block.columns}
    assert shown - set(TEMPLATE_KEYS) <= set(names)
    assert which.text_only | which.csv_lines <= {*which.text, *which.blocks}
    assert which.choices.keys() <= which.options.keys()
    assert set(which.main) <= set(which.tables)
    assert set(which.grouped) <= set(which.tables)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_without_data_is_its_header_and_says_which_trace_to_start(name: str) -> None:
    which = reports.report(name)
    *heading, title = printed(which, [], "text")
    assert title == which.title
    assert bool(heading) == (name in ("class1", "dchssum", "qall", "qsum"))
    header, *more = printed(which, [], "csv")
    assert header
    assert not more
    assert json.loads("\n".join(printed(which, [], "json")))["rows"] == []
    assert "START TRACE(" in which.absent()


@pytest.mark.parametrize("name", NAMES)
def test_explain_gives_each_figure_with_its_formula(name: str) -> None:
    which = reports.report(name)
    told = list(reports.explain(which))
    assert which.trace in told[1]
    for each in which.figures:
        place = told.index(f"{each.csv or each.name} [{each.name}] = {each.formula}")
        assert reports.EVIDENCE[each.evidence] in told[place + 1]


@pytest.mark.parametrize("name", MP1B)
def test_the_dd_names_of_mp1b_are_names_of_reports(name: str) -> None:
    for dd in MP1B[name].split():
        assert reports.report(dd).name == reports.report(dd.lower()).name == name


def test_no_two_reports_have_a_name_in_common() -> None:
    taken = [dd for name in NAMES for dd in {name.upper(), *reports.report(name).dd}]
    assert len(set(taken)) == len(taken)


def additive(which: Report) -> Iterator[str]:
    """Yield the figures that are fields of tables that are combined, and are added."""
    columns = {c.name: c for table in which.grouped for c in TABLES[table].columns}
    for each in which.figures:
        column = columns.get(each.name)
        if column is not None and column.combine is Combine.SUM:
            yield each.name


@pytest.fixture(scope="module")
def hours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hours of one-minute intervals of two queue managers, not on the minute."""
    path = tmp_path_factory.mktemp("hours") / "hours.smf"
    generate_dump(
        path, start=dt.datetime(2026, 3, 4, 22, 40, 7), utc_offset=dt.timedelta(hours=2),
        interval=dt.timedelta(minutes=1), version="9.4.0", seed=7, tasks=1, queues=2, count=180,
    )  # fmt: skip
    return path


SUMMED = [name for name in NAMES if any(additive(reports.report(name)))]
LENGTHS = ["1s", "30s", "1m", "90s", "5m", "15m", "1h", "12h", "1d"]


@of_many("name, length", pairs(SUMMED, LENGTHS))
def test_the_sums_of_intervals_are_the_sums_of_their_parts(
    name: str, length: str, hours: Path, rows_by: Rows
) -> None:
    figures = list(additive(reports.report(name)))

    def sums(sections: Sections) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for row in rows_by.of(name, hours, sections=sections):
            for figure in figures:
                key = row["qmgr"], figure
                found[key] = found.get(key, 0) + (row[figure] or 0)
        return found

    recorded = sums(RECORDED)
    assert sums(every(length)) == recorded
    assert sums(TOTAL) == recorded
    assert any(recorded.values())


def test_intervals_begin_at_midnight_and_have_what_began_in_them(
    hours: Path, rows_by: Rows
) -> None:
    rows = rows_by.of("log", hours, sections=every("1h"))
    buckets = [row["bucket"] for row in rows if row["qmgr"] == "QM01"]
    assert buckets == [dt.datetime(2026, 3, 4, 22) + dt.timedelta(hours=n) for n in range(4)]
    assert [row["intervals"] for row in rows if row["qmgr"] == "QM01"] == [20, 60, 60, 40]
    assert all(row["marks"] is None for row in rows)


@pytest.mark.parametrize("length", ["", "5", "7m", "0m", "-1m", "m", "25h", "1w"])
def test_a_length_that_is_none_or_does_not_divide_a_day_is_refused(length: str) -> None:
    with pytest.raises(RequestError, match="30s, 15m, 1h"):
        every(length)
