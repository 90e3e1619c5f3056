"""The page: one file that reaches nothing, harmless whatever the names, the same every time."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math
import re
from pathlib import Path

import pytest

import smfparse
from smfparse.dashboard.sheets import short
from smfparse.errors import RequestError
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.hostile import HARM, hostile_dump, raw
from tests.support.pages import page_of, payload_in
from tests.support.paths import FIXTURES, PROJECT

MARKUP = "<script>&\"'="


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_dump(tmp_path_factory.mktemp("page") / "day.smf")


@pytest.fixture(scope="module")
def page(day: Path) -> str:
    return page_of(smfparse.open(day), day.parent)


def hashed(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.slow
def test_its_policy_lets_in_its_own_script_and_style_and_nothing_else(page: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashed(script)}'; "
        f"style-src 'sha256-{hashed(style)}'; base-uri 'none'; form-action 'none'"
    )

    assert not re.findall(r"<[^>]*\s(?:style|on\w+)=", page)
    assert not re.findall(r"<(?:link|img|iframe|object|embed|base)\b", page)
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|import)\s*\(", page)


@pytest.mark.slow
def test_names_full_of_markup_are_text(tmp_path: Path) -> None:
    page = page_of(smfparse.open(hostile_dump(tmp_path / "x.smf", MARKUP)), tmp_path)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "&lt;" in page


@pytest.mark.slow
def test_no_character_that_is_not_seen_leaves_the_program(tmp_path: Path) -> None:
    page = page_of(smfparse.open(hostile_dump(tmp_path / "x.smf")), tmp_path)
    assert raw(page) == []
    names = [day["qmgr"] for day in payload_in(page)["days"]]
    assert raw("".join(names)) == []
    assert names


@pytest.mark.slow
def test_the_name_of_an_input_is_shown_harmless(tmp_path: Path) -> None:
    harms = [each for each in HARM if "/" not in each and "\0" not in each]
    for harm in harms[1:2]:
        path = generate_dump(tmp_path / f"{harm}.smf", count=1, qmgrs=["QM01"])
        assert raw(page_of(smfparse.open(path), tmp_path)) == []


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes_and_a_dataset_the_same_values(
    day: Path, page: str, tmp_path: Path
) -> None:
    assert page_of(smfparse.open(day), tmp_path) == page
    assert run("convert", day, "--to", tmp_path / "dataset").exit_code == 0
    other = page_of(smfparse.open(tmp_path / "dataset"), tmp_path)
    assert payload_in(other)["days"] == payload_in(page)["days"]


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    opened = smfparse.open(generate_dump(tmp_path / "day.smf", count=1))
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(RequestError, match=r"page\.html"):
        opened.dashboard(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "mine"


def test_findings_can_be_read_without_scripts(page: str) -> None:
    static = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.S)
    assert "Findings" in static
    assert "Records in the input" in static
    assert "QM02 on SYSA" in static


@pytest.mark.slow
def test_the_oldest_release_gives_a_page(tmp_path: Path) -> None:
    assert payload_in(page_of(smfparse.open(FIXTURES / "qm60.smf"), tmp_path))["days"]


@pytest.mark.slow
def test_missing_records_are_named_with_the_trace_to_start(day: Path, tmp_path: Path) -> None:
    selected = smfparse.open(day, smfparse.Selection.of(qmgr="NONE"))
    none = page_of(selected, tmp_path)
    assert "No MQ statistics or accounting to show" in none
    assert "START TRACE(STAT) CLASS(1)" in none
    traces = {"115": "START TRACE(ACCTG) CLASS(3)", "116": "START TRACE(STAT)"}
    for types, trace in traces.items():
        part = page_of(smfparse.open(day, smfparse.Selection.of(type=types)), tmp_path)
        (missing,) = re.findall(r'id="missing">(.*?)</section>', part, re.S)
        assert trace in missing


@pytest.mark.slow
def test_one_interval_is_enough_and_times_are_local(tmp_path: Path) -> None:
    east = dt.timedelta(hours=5, minutes=30)
    path = generate_dump(tmp_path / "day.smf", count=1, utc_offset=east)
    page = page_of(smfparse.open(path), tmp_path)
    days = payload_in(page)["days"]
    assert all(len(each["start"]) == 1 for each in days)
    first = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=days[0]["first"])
    assert first == dt.datetime(2026, 3, 4, 9)
    assert "local time of the system, UTC+05:30" in page


def test_a_panel_of_zeros_is_a_word_and_no_chart(page: str) -> None:
    (quiet,) = set(re.findall(r'class="quiet">0 all the time: (Waits for a log buffer)', page))
    assert quiet
    assert 'data-panel="log-waits"' not in page


@pytest.mark.long
def test_a_panel_of_zeros_is_a_chart_beside_one_with_values(day: Path, tmp_path: Path) -> None:
    dense = generate_dump(tmp_path / "dense.smf", dense=True, count=2)
    beside = page_of(smfparse.open(day), tmp_path, before=dense)
    assert 'data-panel="log-waits"' in beside


def test_very_small_values_are_marked() -> None:
    assert [short(each) for each in (0.0, 8.4e-05, 0.001, 1.5, 12345.6, math.nan)] == [
        *("0", "<0.001", "0.001", "1.5", "12,346", "-")
    ]


def test_uplot_is_as_it_was_published() -> None:
    """The sums are those of the npm package: uPlot.iife.min.js, uPlot.min.css, LICENSE."""
    assets = PROJECT / "smfparse" / "dashboard" / "assets"
    sums = [line.split() for line in (assets / "uplot.sha256").read_text().splitlines()]
    assert [name for _, name in sums] == ["uplot.js", "uplot.css", "uplot-license.txt"]
    for wanted, name in sums:
        assert hashlib.sha256((assets / name).read_bytes()).hexdigest() == wanted
    (version,) = re.findall(r"uPlot \(v([\d.]+)\)", (assets / "uplot.js").read_text("utf-8"))
    said = (PROJECT / "docs" / "dashboard.md").read_text("utf-8")
    assert f"[uPlot](https://github.com/leeoniya/uPlot) {version} (MIT)" in said
