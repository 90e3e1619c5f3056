"""The page: one file that reaches nothing, harmless whatever the names, the same every time."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import smfparse
from smfparse.dashboard.payload import packed
from smfparse.errors import RequestError
from smfparse.rendering.figures import short
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.hostile import EBCDIC, hostile_dump, raw
from tests.support.pages import DATA, page_of, payload_in
from tests.support.paths import PROJECT


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
def test_names_of_all_that_does_harm_are_text(tmp_path: Path) -> None:
    """Markup and characters that are not seen, in the data and in the name of the file."""
    path = hostile_dump(tmp_path / "\x9d52;c;cm0gLXJmIH4=\x9c.smf", "<script>&\"'=" + EBCDIC)
    page = page_of(smfparse.open(path), tmp_path)
    assert page.count("<script") == page.count("</script>") == 2
    assert "&lt;" in page
    names = "".join(day["qmgr"] for day in payload_in(page)["days"])
    drawing = run("plot", "verb-calls", path).stdout
    assert names
    assert raw(page + names + drawing) == []
    assert ElementTree.fromstring(drawing).tag.endswith("svg")


@pytest.mark.slow
def test_a_dataset_gives_the_page_of_its_file(day: Path, page: str, tmp_path: Path) -> None:
    """By the command, and by the library."""
    dataset, path = tmp_path / "dataset", tmp_path / "page.html"
    run("convert", day, "--to", dataset, code=0)
    run("dashboard", dataset, "--output", path, code=0)
    other = path.read_text(encoding="utf-8")
    assert DATA.findall(page) == [packed(payload_in(page))]
    one, two = (
        (DATA.sub("", text) + json.dumps(payload_in(text))).replace(str(name), "INPUT")
        for text, name in ((page, day), (other, dataset))
    )
    assert one == two
    with pytest.raises(RequestError, match=r"page\.html"):
        smfparse.open(day).dashboard(path)
    assert path.read_text(encoding="utf-8") == other


@pytest.mark.usefixtures("unjudged")
def test_one_interval_of_the_oldest_release_is_enough(tmp_path: Path) -> None:
    """Records of UTC, in the zone that is asked for; missing traces are named."""
    path = generate_dump(tmp_path / "day.smf", version="6.0.0", count=1, qmgrs=["QM01"])
    for smf_type, intervals, missing in (
        ("115", "1 intervals of 1,800 seconds", "ACCTG) CLASS(3)</code> is required for: API call"),
        ("116", "no statistics intervals", "STAT) CLASS(1)</code> is required for: Log written"),
    ):
        output = tmp_path / f"{smf_type}.html"
        asked = ("--type", smf_type, "--tz", "Asia/Kolkata", "--output", output)
        run("dashboard", path, *asked, code=0)
        page = output.read_text(encoding="utf-8")
        (day,) = payload_in(page)["days"]
        assert day["first"] % 86_400 == 14.5 * 3600
        words = (intervals, "Asia/Kolkata, UTC+05:30", f"<code>START TRACE({missing}")
        assert [each for each in words if each not in page] == []


@pytest.mark.slow
def test_a_page_of_nothing_names_the_trace_to_start(day: Path, tmp_path: Path) -> None:
    none = page_of(smfparse.open(day, smfparse.Selection.of(qmgr="NONE")), tmp_path)
    assert "No MQ statistics or class 3 accounting to show" in none
    assert "START TRACE(STAT) CLASS(1)" in none


def test_findings_can_be_read_without_scripts_and_a_panel_of_zeros_is_a_word(page: str) -> None:
    static = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.S)
    zone = "local time of the system, UTC+02:00"
    words = ("Findings", "Records in the input", "QM02 on SYSA", zone)
    assert [each for each in words if each not in static] == []
    assert re.findall(r'class="quiet">0 all the time: Waits for a log buffer', page)
    assert 'data-panel="log-waits"' not in page


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
    said = (PROJECT / "docs" / "share-results.md").read_text("utf-8")
    assert f"[uPlot](https://github.com/leeoniya/uPlot) {version} (MIT)" in said
