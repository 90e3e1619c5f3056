"""The Python interface: tables, reports and findings as commands have them, also in notebooks."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import smfparse
from smfparse.decoding.dictionary import table_names
from smfparse.errors import InputError, RequestError
from smfparse.library import Frame
from smfparse.reports.declaration import report
from smfparse.reports.sections import TOTAL
from tests.support.command import in_json, run
from tests.support.generated import generate_dump
from tests.support.hostile import hostile_dump, raw
from tests.support.paths import FIXTURES
from tests.support.paths import SMF as DUMP
from tests.support.report_runs import printed, report_rows


def test_the_package_gives_what_it_says_and_nothing_more() -> None:
    assert len(smfparse.__all__) <= 12
    assert all(getattr(smfparse, name) is not None for name in smfparse.__all__)
    assert dir(smfparse) == sorted(smfparse.__all__)
    assert {"Selection", "SmfData", "compare", "open"} < set(smfparse.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = smfparse.nothing


@pytest.mark.slow
def test_every_table_comes_whole_or_by_columns() -> None:
    data = smfparse.open(str(DUMP))
    assert data.tables == tuple(table_names())
    whole = data.arrow("wqst")
    assert whole.num_rows
    some = data.arrow("wqst", ["putn", "basename"])
    assert some.column_names == ["putn", "basename"]
    assert some.equals(whole.select(["putn", "basename"]))
    assert sum(batch.num_rows for batch in data.batches("wqst", ["putn"])) == whole.num_rows
    assert data.arrow("qqst", []).num_columns == 0
    assert data.arrow("WQST", "putn").equals(whole.select(["putn"]))
    assert data.polars("WQST").select("putn").collect().height == whole.num_rows
    assert data.report("api_cost", total=True).equals(data.report("api-cost", total=True))
    counted = sum(each.records for each in data.info())
    assert counted == data.sql("SELECT count(*) AS n FROM record")["n"][0].as_py()
    assert not data.damage


@pytest.mark.slow
def test_a_report_is_a_table_of_what_json_has(whole_dataset: Path) -> None:
    options = {"by": "job,queue", "top": 5}
    found = smfparse.open(whole_dataset).report("api-cost", total=True, **options)
    which = report("api-cost")
    rows = report_rows("api-cost", DUMP, sections=TOTAL, **options)
    expected = json.loads("\n".join(printed(which, rows, "json")))["rows"]
    kept = [row for row in found.to_pylist() if which.has(row.get("line") or "", "json")]
    for row, told in zip(kept, expected, strict=True):
        assert {key for key in told if not key.endswith("_local")} == {*found.column_names}
        for each in which.figures:
            if isinstance(told[each.name], (int, float)):
                assert row[each.name] == pytest.approx(told[each.name])


@pytest.mark.usefixtures("unjudged")
def test_two_are_compared_as_on_the_command_line() -> None:
    data = smfparse.open(FIXTURES / "qm60.smf")
    rows = smfparse.compare(data, data, by="job")
    assert isinstance(rows, pl.DataFrame)
    assert set(rows["ratio"].drop_nulls()) == {1.0}
    assert rows["queue"].null_count() == rows.height


def test_planners_answer_as_on_the_command_line() -> None:
    answer, *_ = smfparse.open(DUMP).capacity("log", log_io_time=92)
    same, *_ = in_json("capacity", "log", DUMP, "--log-io-time", "92")["answers"]
    assert {each["name"]: each["value"] for each in same["figures"]} == {
        each.name: each.value for each in answer.plan.figures
    }
    assert (answer.origins["log_io_time"], answer.origins["mb_s"]) == ("given", "measured")
    assert repr(answer).startswith("<log, QM01 on SYSA: mb_s=")


@pytest.mark.slow
def test_what_is_not_there_is_said_to_be_so() -> None:
    data, small = smfparse.open([DUMP]), FIXTURES / "qm60.smf"
    wrong: dict[str, Callable[[], object]] = {
        "no table wqzz": lambda: data.arrow("wqzz"),
        "no table task; views are read with SQL": lambda: data.arrow("task"),
        "wqst has no column putz": lambda: list(data.batches("wqst", ["putz"])),
        "unknown report 'lag'": lambda: data.report("lag"),
        "does not take by=": lambda: data.report("log", by="job"),
        "exclude each other": lambda: data.show("log", interval="1h", total=True),
        "no frame 'dask'; give one of arrow, polars, pan": lambda: data.sql("", frame="dask"),  # type: ignore[arg-type]
        "tolerance=-1": lambda: smfparse.compare(small, str(small), tolerance=-1),
        "no frame 'rows'": lambda: data.report("log", frame="rows"),  # type: ignore[arg-type]
        "unknown planner 'logs'; planners: channels, ": lambda: data.capacity("logs"),
        "planner log: unknown input iotime; inputs: mb_s": lambda: data.capacity("log", iotime=92),
        "log_io_time='92us': not a number": lambda: data.capacity("log", log_io_time="92us"),
        "copies=3: must be 1 to 2": lambda: data.capacity("log", copies=3),
        "wqst has no column putz; near: put": lambda: next(
            smfparse.decode_part(DUMP, tables={"wqst": ["putz"]})
        ),
        "framing=x: no such framing": lambda: smfparse.plan(DUMP, 1 << 20, framing="x"),
        "part_bytes=0": lambda: smfparse.plan(DUMP, 0),
    }
    for said, call in wrong.items():
        with pytest.raises(RequestError, match=re.escape(said)):
            call()


def test_a_selection_is_for_every_method() -> None:
    chosen = smfparse.open(DUMP, smfparse.Selection.of(qmgr=["QM01"]))
    assert set(chosen.arrow("wtas")["qmgr"].to_pylist()) == {"QM01"}
    assert {each.qmgr for each in chosen.info()} == {"QM01"}
    assert set(chosen.report("log")["qmgr"].to_pylist()) == {"QM01"}
    assert "SMF data of" in repr(chosen)


def test_what_cannot_be_opened_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "rewritten.smf"
    path.write_bytes(DUMP.read_bytes())
    data = smfparse.open(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        data.arrow("wqst")
    for none in ([], "", ["", DUMP], "missing.smf"):
        with pytest.raises(InputError, match=r"missing\.smf" if none == "missing.smf" else "input"):
            smfparse.open(none)
    with pytest.raises(TypeError, match=r"open\(\) has no keyword argument 'since'; .*Selection"):
        smfparse.open(DUMP, since="2200")  # type: ignore[call-arg]


def test_a_part_is_asked_for_what_is_there() -> None:
    for wanted in ({"wqst": "putn"}, {"WQST": ["putn"]}):
        found = smfparse.decode_part(DUMP, tables=wanted)
        assert {(table, *batch.schema.names) for table, batch in found} == {("wqst", "putn")}
    whole = smfparse.plan(DUMP, 1 << 20)
    assert smfparse.plan(str(DUMP), 1 << 20) == smfparse.plan(DUMP, 1 << 20, framing="rdw") == whole


# What notebooks show: tables, without any script ------------------------------------------------


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_dump(tmp_path_factory.mktemp("notebooks") / "day.smf")


def cells_of(page: str) -> list[str]:
    cells = re.findall(r"<t[dh]\b[^>]*>(.*?)(?=</?t[dhr]\b)", page, re.S)
    return [unescape(re.sub("<[^>]*>", "", each)).strip() for each in cells]


@pytest.mark.slow
def test_data_reports_and_findings_are_shown_as_commands_do(day: Path) -> None:
    data = smfparse.open(day)
    text = data._repr_html_()
    assert {each.qmgr for each in data.info() if each.qmgr} <= {*cells_of(text)}
    shown = data.show("msgm", total=True)
    assert f"{shown!r}\n" == run("report", "msgm", day, "--total").stdout
    page = run("report", "msgm", day, "--total", "--format", "html").stdout
    part = shown._repr_html_()
    assert cells_of(part) == cells_of(page.partition("<script")[0]) != []
    assert part == shown._repr_html_()
    assert "<script" not in text + part
    summary = data.summary()
    assert f"{summary!r}\n" == run("summary", day).stdout
    assert cells_of(summary._repr_html_())
    checked = data.check()
    text = checked._repr_html_()
    assert [*checked] == [*checked.findings] != []
    assert len(checked) == len(checked.findings)
    assert all(each in text for each in [str(day), *(each.rule for each in checked.findings)])
    assert repr(checked).startswith(f"<{len(checked.findings)} findings")


@pytest.mark.slow
def test_names_do_no_harm(tmp_path: Path) -> None:
    data = smfparse.open(hostile_dump(tmp_path / "odd.smf", "<script>&\"'\x1b\x07\x9b"))
    for text in (data._repr_html_(), data.show("task")._repr_html_()):
        assert (raw(text), "<script" in text) == ([], False)


@pytest.mark.long
def test_queries_run_in_a_notebook_without_widgets(day: Path, tmp_path: Path) -> None:
    """DuckDB refuses settings of its progress bar there."""
    ask = f"import smfparse\nsmfparse.open({str(day)!r}).sql('SELECT 40 + 2 AS answer').to_pylist()"
    notebook = new_notebook(cells=[new_code_cell(ask)])
    NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}).execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == "[{'answer': 42}]"


@pytest.mark.slow
def test_rows_come_as_the_frame_that_is_wanted(day: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = smfparse.open(day)
    rows = data.report("msgm")
    query = "SELECT qmgr, sum(putn)::BIGINT AS puts FROM wqst GROUP BY ALL ORDER BY ALL"
    kinds: dict[Frame, type] = {"polars": pl.DataFrame, "pandas": pd.DataFrame}
    for frame, kind in kinds.items():
        found = data.report("msgm", frame=frame)
        assert isinstance(found, kind)
        assert found.shape == rows.shape
        assert list(found.columns) == rows.column_names
        assert list(found["qmgr"]) == rows["qmgr"].to_pylist()
        assert [*data.sql(query, frame=frame)["puts"]] == data.sql(query)["puts"].to_pylist()
    monkeypatch.setattr("smfparse.library.find_spec", lambda _: None)
    with pytest.raises(smfparse.SmfError, match=r"pandas is not installed; run: .*pip"):
        data.sql("SELECT 1", frame="pandas")


@pytest.mark.long
def test_the_help_has_what_runs(day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DUMP", "before", "after"):
        shutil.copy(day, f"{name}.smf")
    shown = [line[4:] for line in (smfparse.__doc__ or "").splitlines() if line.startswith("    ")]
    names: dict[str, object] = {}
    for line in shown:
        exec(line, names)
    assert len(shown) > 10
    assert Path("dataset").is_dir()
