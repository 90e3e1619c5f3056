"""What notebooks show of data, reports and findings: tables, without any script."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import smfparse
from smfparse.library import Frame
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.hostile import hostile_dump, raw


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_dump(tmp_path_factory.mktemp("notebooks") / "day.smf")


class Cells(HTMLParser):
    """The texts of the cells of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@pytest.mark.slow
def test_data_reports_and_findings_are_shown_as_commands_do(day: Path) -> None:
    data = smfparse.open(day)
    found = Cells(data._repr_html_())
    assert {each.qmgr for each in data.info() if each.qmgr} <= {*map(str.strip, found.cells)}
    assert "script" not in found.tags
    shown = data.show("msgm", total=True)
    assert f"{shown!r}\n" == run("report", "msgm", day, "--total").stdout
    page = run("report", "msgm", day, "--total", "--format", "html").stdout
    part = Cells(shown._repr_html_())
    assert part.cells
    assert part.cells == Cells(page.partition("<script")[0]).cells
    assert "script" not in part.tags
    assert shown._repr_html_() == shown._repr_html_()
    checked = data.check()
    text = checked._repr_html_()
    assert checked.findings
    assert all(each in text for each in [str(day), *(each.rule for each in checked.findings)])
    assert repr(checked).startswith(f"<{len(checked.findings)} findings")


@pytest.mark.slow
def test_names_do_no_harm(tmp_path: Path) -> None:
    data = smfparse.open(hostile_dump(tmp_path / "odd.smf", "<script>&\"'\x1b\x07\x9b"))
    for shown in (data, data.show("task")):
        text = shown._repr_html_()
        assert raw(text) == []
        assert "<script" not in text


@pytest.mark.long
def test_queries_run_in_a_notebook_without_widgets(day: Path, tmp_path: Path) -> None:
    """DuckDB refuses settings of its progress bar there."""
    ask = f"import smfparse\nsmfparse.open({str(day)!r}).sql('SELECT 40 + 2 AS answer').to_pylist()"
    notebook = new_notebook(cells=[new_code_cell(ask)])
    NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}).execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/plain"] == "[{'answer': 42}]"


@pytest.mark.slow
def test_rows_come_as_the_frame_that_is_asked_for(
    day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_the_help_of_the_package_shows_what_runs(
    day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DUMP", "before", "after"):
        shutil.copy(day, f"{name}.smf")
    shown = [line[4:] for line in (smfparse.__doc__ or "").splitlines() if line.startswith("    ")]
    names: dict[str, object] = {}
    for line in shown:
        exec(line, names)
    assert len(shown) > 10
    assert Path("dataset").is_dir()
