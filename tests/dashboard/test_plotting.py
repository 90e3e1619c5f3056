"""One panel as SVG: well formed, with the figures of the page, harmless, the same every time."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from smfparse.dashboard.declaration import panels
from tests.support.command import run
from tests.support.real import case

SVG = "{http://www.w3.org/2000/svg}"


def plotted(*arguments: object) -> ElementTree.Element:
    return ElementTree.fromstring(run("plot", *arguments, code=0).stdout)


def texts(drawn: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in drawn.iter(f"{SVG}text")]


def test_the_list_names_panels_that_can_be_drawn_for_each_queue_manager(day: Path) -> None:
    names = [line.split()[0] for line in run("plot", "--list").stdout.splitlines()]
    assert {"log-busy", "buffers-free", "depth", "verb-calls", "structure"} <= {*names}
    drawn = plotted("messages", day)
    assert drawn.tag == f"{SVG}svg"
    assert [each for each in texts(drawn) if each.startswith("Puts and gets")] == [
        "Puts and gets, calls per second: QM01 on SYSA",
        "Puts and gets, calls per second: QM02 on SYSA",
    ]


def test_the_axis_of_a_percentage_ends_at_100_in_local_or_another_time(day: Path) -> None:
    """The system has UTC+2; Tokyo is seven hours ahead of it."""
    for zone, time in (((), "09:30"), (("--tz", "Asia/Tokyo"), "16:30")):
        assert {time, "100"} <= {*texts(plotted("log-busy", day, *zone))}
    assert [each.name for each in panels().values() if each.whole and "CP" in each.unit] == []


def test_a_step_is_an_interval(day: Path) -> None:
    paths = [each.get("d", "") for each in plotted("log-waits", day).iter(f"{SVG}path")]
    (course,) = {path for path in paths if path.count("H") == 6}
    ends = [float(each) for each in re.findall(r"H(\d+\.\d)", course)]
    assert ends == pytest.approx([760 * each / 6 for each in range(1, 7)], abs=0.1)


def test_queues_are_rows_of_a_heat_map_the_darker_the_more() -> None:
    """Of edge.smf: 1000, 2000, ... 6000 puts per half hour."""
    drawn = plotted("queue-puts", case("edge"))
    cells = [each for each in drawn.iter(f"{SVG}rect") if each.get("fill-opacity")]
    shades = [float(each.get("fill-opacity", "")) for each in cells]
    assert len(shades) == 6
    assert shades == sorted({*shades})
    assert shades[-1] == 1
    assert [each.get("width") for each in cells] == ["126.7"] * 6
    assert "EDGE.Q: mean 1.944" in texts(drawn)


def test_a_panel_without_data_says_which_trace_to_start(day: Path) -> None:
    found = texts(plotted("depth", day, "--type", "116"))
    assert any("START TRACE(STAT)" in each for each in found)


def test_wrong_and_missing_names_are_refused(day: Path, tmp_path: Path) -> None:
    html = ("log-busy", day, "--output", tmp_path / "log.html")
    wrong = {("log-bussy", day): "log-busy", (): "--list", html: "the format is svg"}
    for arguments, reason in wrong.items():
        assert reason in run("plot", *arguments, code=2).stderr


@pytest.mark.skipif(find_spec("resvg_py") is None, reason="no resvg_py: see CONTRIBUTING")
def test_a_name_that_ends_in_png_gets_pixels(day: Path, tmp_path: Path) -> None:
    drawing = plotted("log-busy", day)
    run("plot", "log-busy", day, "--output", tmp_path / "log.PNG", code=0)
    picture = (tmp_path / "log.PNG").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    sizes = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert [*sizes] == [2 * int(drawing.get(each, "")) for each in ("width", "height")]


def test_png_requires_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to get that, and reads nothing."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    asked = ("log-busy", tmp_path / "missing.smf", "--output", tmp_path / "log.png")
    assert f"{sys.executable} -m pip install resvg_py" in run("plot", *asked, code=2).stderr
    assert not (tmp_path / "log.png").exists()
