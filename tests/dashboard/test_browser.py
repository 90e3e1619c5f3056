"""The page in a real browser: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import base64
import gzip
import random
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from smfparse.dashboard.payload import packed
from tests.support.browser import needs_chromium, silent
from tests.support.command import run
from tests.support.pages import DATA, payload_in

pytestmark = [pytest.mark.slow, needs_chromium]
SVG = "{http://www.w3.org/2000/svg}"
WIDE = {"width": 1300, "height": 900}


@pytest.fixture(scope="session")
def url(day: Path, page: str) -> str:
    return day.with_name("page.html").as_uri()


@pytest.fixture
def opened(browser: Any, url: str) -> Iterator[Any]:
    """The page, ready; the test fails if it logs anything or asks for anything else."""
    with silent(browser, url) as tab:
        yield ready(tab, url)


def ready(tab: Any, url: str) -> Any:
    tab.goto(url)
    tab.locator("html[data-ready=true]").wait_for()
    return tab


def shown_time(tab: Any) -> str:
    return str(tab.locator("#span").inner_text())


BLUE_COLUMNS = """canvas => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const blue = (red, green, blue) => red < 40 && green > 90 && green < 140 && blue > 150;
    const found = new Set();
    for (let at = 0; at < data.length; at += 4)
        if (blue(data[at], data[at + 1], data[at + 2])) found.add((at / 4) % width);
    return found.size;
}"""
WHOLE = "2026/03/04 09:00 \u2013 12:00"


def shown_chart(tab: Any, panel: str = "log-written") -> Any:
    chart = tab.locator(f".manager.shown .chart[data-panel={panel}]")
    chart.scroll_into_view_if_needed()
    return chart


def saved_by(button: Any) -> Path:
    with button.page.expect_download() as saved:
        button.click()
    return Path(saved.value.path())


def test_drag_keys_findings_links_tables_and_csv_work(opened: Any) -> None:
    """One page, and what a reader does with it most."""
    box = shown_chart(opened).locator(".u-over").bounding_box()
    assert shown_time(opened) == WHOLE
    opened.mouse.move(box["x"] + box["width"] / 4, box["y"] + 50)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60, steps=4)
    opened.mouse.up()
    assert shown_time(opened) != WHOLE
    assert "from=2026-03-04T09:4" in opened.url
    for key, time in (
        ("0", WHOLE),
        ("+", "2026/03/04 09:45 \u2013 11:15"),
        ("ArrowRight", "2026/03/04 10:07:30 \u2013 11:37:30"),
        ("0", WHOLE),
    ):
        opened.keyboard.press(key)
        assert shown_time(opened) == time
    lines = saved_by(shown_chart(opened).get_by_role("button", name="CSV")).read_text().splitlines()
    assert lines[0] == "from,to,Log written"
    assert lines[1].startswith("2026-03-04T09:00:00,2026-03-04T09:30:00,")
    assert len(lines) == 7
    sheet = opened.locator(".manager.shown .sheet[data-name=verbs]")
    sheet.locator("thead button").nth(2).click()
    sheet.locator("thead th[aria-sort=descending]").wait_for()
    cells = sheet.locator("tbody td:nth-child(4)").all()
    values = [float(each.get_attribute("data-v") or 0) for each in cells]
    assert values == sorted(values, reverse=True)
    sheet.locator("thead button").nth(2).click()
    sheet.locator("thead th[aria-sort=ascending]").wait_for()
    sheet.locator(".filter").fill("put1")
    assert sheet.locator("tbody tr:visible").count() == 1
    lines = saved_by(sheet.locator(".csv")).read_text().splitlines()
    assert lines[0].startswith("Verb,CPU s,Calls")
    assert [each.partition(",")[0] for each in lines[1:]] == ["put1"]
    finding = opened.locator(".manager.shown .findings > li:has(.zoom:not([data-panel='']))").first
    finding.locator("summary").click()
    finding.locator(".zoom").click()
    assert opened.locator(".chart.aimed").is_visible()
    opened.keyboard.press("q")
    assert opened.locator(".manager.shown").get_attribute("id") == "m1"


@pytest.mark.long
def test_a_value_alone_is_as_wide_as_its_interval(browser: Any, page: str, tmp_path: Path) -> None:
    payload = payload_in(page)
    payload["days"][0]["charts"]["log-written"]["lines"][0]["v"] = [None, 5, None, None, None, None]
    changed = DATA.sub(lambda found: found[0].replace(found[1], packed(payload)), page)
    (tmp_path / "changed.html").write_text(changed, encoding="utf-8")
    tab = ready(browser.new_page(viewport=WIDE), (tmp_path / "changed.html").as_uri())
    chart = shown_chart(tab)
    width = chart.locator(".u-over").bounding_box()["width"]
    assert chart.locator("canvas").evaluate(BLUE_COLUMNS) == pytest.approx(width / 6, abs=4)


MOVES = """() => { window.moved = 0; new PerformanceObserver(list => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.moved += each.value;
}).observe({ type: "layout-shift" }); }"""


@pytest.mark.long
def test_charts_out_of_sight_get_the_new_time_and_move_nothing_else(opened: Any) -> None:
    chart = shown_chart(opened)
    before = chart.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    opened.evaluate("scrollTo(0, document.body.scrollHeight)")
    opened.wait_for_timeout(200)
    opened.keyboard.press("+")
    chart.scroll_into_view_if_needed()
    opened.wait_for_timeout(300)
    assert chart.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before
    opened.evaluate(MOVES)
    for name in ("verbs", "queue-costs", "verbs"):
        opened.locator(f".manager.shown .sheet[data-name={name}]").scroll_into_view_if_needed()
        opened.wait_for_timeout(300)
    assert opened.locator(".manager.shown .chart[data-panel=queue-cpu] canvas").count() == 1
    assert opened.evaluate("window.moved") < 0.02


@pytest.mark.long
def test_the_command_behind_a_chart_is_copied_and_runs(browser: Any, url: str) -> None:
    tab = ready(browser.new_page(permissions=["clipboard-read", "clipboard-write"]), url)
    chart = shown_chart(tab, "log-io")
    chart.get_by_role("button", name="Formula").click()
    chart.get_by_role("button", name="copy the command").click()
    chart.get_by_role("button", name="copied").wait_for()
    program, *arguments = shlex.split(tab.evaluate("navigator.clipboard.readText()"))
    assert program == "smfparse"
    assert "QM01,copy 1," in run(*arguments, "--format", "csv", code=0).stdout


@pytest.mark.long
def test_links_show_their_queue_manager_and_time(browser: Any, url: str) -> None:
    tab = ready(browser.new_page(), f"{url}#qmgr=QM02&from=2026-03-04T10:00&to=2026-03-04T11:00")
    assert tab.locator(".manager.shown h2").inner_text() == "QM02 on SYSA"
    for link in ("#m1-buffers", "#held"):
        tab.locator(f".manager.shown a[href='{link}']").first.click()
        tab.wait_for_timeout(100)
        assert tab.locator(".manager.shown").get_attribute("id") == "m1"
        assert shown_time(tab) == "2026/03/04 10:00 \u2013 11:00"
    tab.evaluate("location.hash = '#m0-log'")
    tab.locator("#m0.shown").wait_for()


@pytest.mark.long
def test_a_chart_is_saved_as_a_drawing_and_as_a_picture(opened: Any) -> None:
    for panel in ("log-written", "queue-puts"):
        chart = shown_chart(opened, panel)
        drawing = ElementTree.parse(saved_by(chart.get_by_role("button", name="SVG"))).getroot()
        texts = [each.text or "" for each in drawing.iter(f"{SVG}text")]
        assert "QM01, 2026/03/04 09:00" in texts[0]
        names = chart.locator("bdi").all_inner_texts()
        assert names
        assert {*names} <= {*texts}
        assert saved_by(chart.get_by_role("button", name="PNG")).read_bytes().startswith(b"\x89PNG")
    opened.keyboard.press("+")
    saved = saved_by(shown_chart(opened).get_by_role("button", name="SVG"))
    paths = ElementTree.parse(saved).getroot().iter(f"{SVG}path")
    (course,) = (each.get("d", "") for each in paths if each.get("stroke") == "#0072b2")
    ends = [float(each) for each in re.findall(r"H(\d+\.\d)", course)]
    assert ends == pytest.approx([126.7, 380.0, 633.3, 760.0], abs=0.1)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browser: Any, url: str) -> None:
    package = find_spec("axe_core_python")
    if package is None or package.origin is None:
        pytest.skip("no axe: see CONTRIBUTING")
    (script,) = Path(package.origin).parent.rglob("axe.min.js")
    tab = ready(browser.new_page(viewport=WIDE, color_scheme=scheme), url)
    tab.evaluate(script.read_text(encoding="utf-8"))
    tags = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = tab.evaluate("tags => axe.run(document, tags)", tags)
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


@pytest.mark.long
def test_a_phone_needs_no_scrolling_sideways(browser: Any, url: str) -> None:
    tab = ready(browser.new_page(viewport={"width": 390, "height": 800}), url)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not tab.locator(".manager.shown .chart").first.is_visible()
    tab.locator(".manager.shown .part > h3").first.click()
    assert tab.locator(".manager.shown .chart").first.is_visible()


_CANVAS = "document.querySelector('.manager.shown .plot canvas').offsetWidth"
_OVERLAPS = """() => [...document.querySelectorAll(".manager.shown .plot")].filter((plot) => {
    const [canvas, legend] = ["canvas", ".legend"].map((each) => plot.querySelector(each));
    if (!canvas || !legend) return false;
    return canvas.getBoundingClientRect().right > legend.getBoundingClientRect().left + 1;
}).map((plot) => plot.parentElement.textContent.slice(0, 40))"""

_BREAKS = """() => [...document.querySelectorAll(".manager.shown > .part")]
    .map((part) => getComputedStyle(part).breakBefore)"""
_COLOURS = """() => [...document.querySelectorAll(".manager.shown .chart .legend")].map((legend) =>
    [...legend.querySelectorAll("tbody tr")].map((row) =>
        [row.querySelector("bdi").textContent, row.querySelector("rect").getAttribute("class")]))"""


@pytest.mark.long
def test_an_object_has_one_colour_in_all_charts(browser: Any, url: str) -> None:
    tab = ready(browser.new_page(), url)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # draws what is below the window too
    charts = tab.evaluate(_COLOURS)
    assert all(len({colour for _, colour in lines}) == len(lines) for lines in charts)
    of = {verb: {dict(map(tuple, each)).get(verb) for each in charts} for verb in ("get", "put")}
    assert [len(colours - {None}) for colours in of.values()] == [1, 1]
    assert sum(any(name == "get" for name, _ in each) for each in charts) >= 2


@pytest.mark.long
def test_it_prints(browser: Any, url: str) -> None:
    tab = ready(browser.new_page(), url)
    tab.locator(".manager.shown .chart").first.scroll_into_view_if_needed()
    tab.wait_for_selector(".manager.shown .plot canvas")
    wide = tab.evaluate(_CANVAS)
    assert tab.pdf(format="A4").startswith(b"%PDF")
    assert tab.evaluate(_CANVAS) == wide
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.evaluate("document.querySelector('main').offsetWidth") == 703  # of A4
    assert tab.evaluate(_OVERLAPS) == []
    breaks = tab.evaluate(_BREAKS)
    assert breaks[0] == "page"
    assert set(breaks[1:]) == {"auto"}
    assert 300 < tab.evaluate(_CANVAS) < wide


def test_without_scripts_it_has_findings_and_says_why_no_charts(browser: Any, url: str) -> None:
    tab = browser.new_page(java_script_enabled=False)
    tab.goto(url)
    assert tab.locator(".manager:visible").count() == 2
    assert tab.locator(".findings li:visible").count() > 0
    assert tab.locator(".scripted:visible").count() == 0
    assert tab.locator(".undrawn").inner_text() == "Charts are not drawn: scripts did not run."


AT_LOAD = """addEventListener("load", () => {
    window.readyAtLoad = document.documentElement.dataset.ready;
    dispatchEvent(new Event("beforeprint"));
    const charts = [...document.querySelectorAll(".manager.shown .chart")];
    const drawn = charts.filter((each) => each.querySelector("canvas"));
    window.chartsAtLoad = [charts.length, drawn.length];
})"""
FOREIGN = """() => { const own = document.createElement("script");
    own.textContent = 'document.title = "taken"'; document.body.append(own); }"""


def test_all_is_drawn_before_it_is_loaded_and_no_other_script_runs(browser: Any, url: str) -> None:
    """As `chromium --headless --print-to-pdf` prints: at once when the page is loaded."""
    tab = browser.new_page()
    tab.add_init_script(AT_LOAD)
    tab.goto(url)
    assert tab.evaluate("window.readyAtLoad") == "true"
    charts, drawn = tab.evaluate("window.chartsAtLoad")
    assert charts == drawn > 10
    assert not tab.locator(".undrawn").is_visible()
    tab.evaluate(FOREIGN)
    assert tab.title().startswith("IBM MQ for z/OS")


UNPACK = """text => {
    const packed = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    return Array.from(inflated(packed), (each) => String.fromCharCode(each)).join("");
}"""


def test_gzip_of_any_kind_of_block_is_unpacked(opened: Any) -> None:
    """Stored, of fixed codes, of own codes; the standard library packs."""
    draws = random.Random(1)
    digits = bytes(draws.choice(b"0123456789,.") for _ in range(50_000))
    for text in (b"", b"a", b"abc" * 4, draws.randbytes(70_000), b'{"v":[1,2,3]},' * 9000, digits):
        for level in (0, 1, 9):
            sent = base64.b64encode(gzip.compress(text, level, mtime=0)).decode()
            assert opened.evaluate(UNPACK, sent) == text.decode("latin-1"), (len(text), level)


def test_the_page_of_a_report_needs_no_scripts(browser: Any, day: Path, tmp_path: Path) -> None:
    """With them, rows can be filtered and saved."""
    file = tmp_path / "report.html"
    run("report", "api-cost", day, "--total", "--format", "html", "--output", file, code=0)
    with silent(browser, file.as_uri()) as tab:
        tab.goto(file.as_uri())
        tab.locator(".filter").first.fill("put1")
        assert tab.locator("tbody tr:visible").filter(has_text="put1").count() > 0
        lines = saved_by(tab.locator(".csv").first).read_text().splitlines()
    assert len(lines) > 1
    assert all("put1" in each for each in lines[1:])
    tab = browser.new_page(java_script_enabled=False)
    tab.goto(file.as_uri())
    assert tab.locator("tbody tr:visible").count() > 2
    assert tab.locator("button").count() == 0
