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
from urllib.parse import unquote, urlparse
from xml.etree import ElementTree

import pytest

import smfparse
from smfparse.dashboard.payload import packed
from tests.support.browser import needs_chromium, silent
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.pages import DATA, payload_in

pytestmark = [pytest.mark.slow, needs_chromium]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("browser")
    data = smfparse.open(generate_dump(folder / "day.smf", count=6))
    data.dashboard(folder / "day.html")
    return (folder / "day.html").as_uri()


@pytest.fixture
def opened(browser: Any, url: str) -> Iterator[Any]:
    """The page, ready; the test fails if it logs anything or asks for anything else."""
    with silent(browser, url) as page:
        ready(page, url)
        yield page


def ready(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("html[data-ready=true]").wait_for()


def shown_time(page: Any) -> str:
    found: str = page.locator("#span").inner_text()
    return found


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


def shown_chart(page: Any, panel: str = "log-written") -> Any:
    chart = page.locator(f".manager.shown .chart[data-panel={panel}]")
    chart.scroll_into_view_if_needed()
    return chart


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
    opened.keyboard.press("0")
    assert shown_time(opened) == WHOLE
    opened.keyboard.press("+")
    assert shown_time(opened) == "2026/03/04 09:45 \u2013 11:15"
    opened.keyboard.press("ArrowRight")
    assert shown_time(opened).startswith("2026/03/04 10:07:30")
    opened.keyboard.press("0")
    with opened.expect_download() as saved:
        shown_chart(opened).get_by_role("button", name="CSV").click()
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines[0] == "from,to,Log written"
    assert lines[1].startswith("2026-03-04T09:00:00,2026-03-04T09:30:00,")
    assert len(lines) == 7
    sheet = opened.locator(".manager.shown .sheet[data-name=verbs]")
    sheet.locator("thead button").nth(2).click()
    sheet.locator("thead th[aria-sort=descending]").wait_for()
    cells = sheet.locator("tbody td:nth-child(4)").all()
    values = [float(each.get_attribute("data-v") or 0) for each in cells]
    assert values == sorted(values, reverse=True)
    sheet.locator(".filter").fill("put1")
    assert sheet.locator("tbody tr:visible").count() == 1
    with opened.expect_download() as saved:
        sheet.locator(".csv").click()
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines[0].startswith("Verb,CPU s,Calls")
    assert [each.partition(",")[0] for each in lines[1:]] == ["put1"]
    finding = opened.locator(".manager.shown .findings > li:has(.zoom:not([data-panel='']))").first
    finding.locator("summary").click()
    finding.locator(".zoom").click()
    assert opened.locator(".chart.aimed").is_visible()
    opened.keyboard.press("q")
    assert opened.locator(".manager.shown").get_attribute("id") == "m1"


@pytest.mark.long
def test_a_value_with_none_beside_it_is_as_wide_as_its_interval(
    browser: Any, url: str, tmp_path: Path
) -> None:
    text = Path(unquote(urlparse(url).path)).read_text(encoding="utf-8")
    payload = payload_in(text)
    payload["days"][0]["charts"]["log-written"]["lines"][0]["v"] = [None, 5, None, None, None, None]
    changed = DATA.sub(lambda found: found[0].replace(found[1], packed(payload)), text)
    (tmp_path / "changed.html").write_text(changed, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    ready(page, (tmp_path / "changed.html").as_uri())
    chart = shown_chart(page)
    over = chart.locator(".u-over").bounding_box()
    drawn = chart.locator("canvas").evaluate(BLUE_COLUMNS)
    page.close()
    assert drawn == pytest.approx(over["width"] / 6, abs=4)


@pytest.mark.long
def test_a_chart_out_of_sight_has_the_new_time_when_it_comes_into_it(opened: Any) -> None:
    chart = shown_chart(opened)
    before = chart.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    opened.evaluate("scrollTo(0, document.body.scrollHeight)")
    opened.wait_for_timeout(200)
    opened.keyboard.press("+")
    chart.scroll_into_view_if_needed()
    opened.wait_for_timeout(200)
    assert chart.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before


MOVES = """() => { window.moved = 0; new PerformanceObserver(list => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.moved += each.value;
}).observe({ type: "layout-shift" }); }"""


@pytest.mark.long
def test_charts_that_come_into_sight_move_nothing_else(opened: Any) -> None:
    opened.wait_for_timeout(300)
    opened.evaluate(MOVES)
    for name in ("verbs", "queue-costs", "verbs"):
        opened.locator(f".manager.shown .sheet[data-name={name}]").scroll_into_view_if_needed()
        opened.wait_for_timeout(300)
    assert opened.locator(".manager.shown .chart[data-panel=queue-cpu] canvas").count() == 1
    assert opened.evaluate("window.moved") < 0.02


@pytest.mark.long
def test_the_command_behind_a_chart_is_copied_and_runs(browser: Any, url: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    ready(page, url)
    chart = shown_chart(page, "log-io")
    chart.get_by_role("button", name="Formula").click()
    chart.get_by_role("button", name="copy the command").click()
    chart.get_by_role("button", name="copied").wait_for()
    program, *arguments = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert program == "smfparse"
    done = run(*arguments, "--format", "csv")
    assert done.exit_code == 0, done.stderr
    assert "QM01,copy 1," in done.stdout
    context.close()


@pytest.mark.long
def test_a_link_to_a_part_keeps_the_queue_manager_and_the_time(opened: Any) -> None:
    opened.keyboard.press("q")
    opened.keyboard.press("+")
    time = shown_time(opened)
    for link in ("#m1-buffers", "#held"):
        opened.locator(f".manager.shown a[href='{link}']").first.click()
        opened.wait_for_timeout(100)
        assert opened.locator(".manager.shown").get_attribute("id") == "m1"
        assert shown_time(opened) == time
    opened.evaluate("location.hash = '#m0-log'")
    opened.locator("#m0.shown").wait_for()


@pytest.mark.long
def test_a_link_shows_its_queue_manager_and_time(browser: Any, url: str) -> None:
    page = browser.new_page()
    ready(page, f"{url}#qmgr=QM02&from=2026-03-04T10:00&to=2026-03-04T11:00")
    assert page.locator(".manager.shown h2").inner_text() == "QM02 on SYSA"
    assert shown_time(page) == "2026/03/04 10:00 \u2013 11:00"
    page.close()


@pytest.mark.long
def test_a_chart_is_saved_as_a_drawing_and_as_a_picture(opened: Any) -> None:
    for panel in ("log-written", "queue-puts"):
        chart = shown_chart(opened, panel)
        with opened.expect_download() as saved:
            chart.get_by_role("button", name="SVG").click()
        drawing = ElementTree.parse(saved.value.path()).getroot()
        texts = [each.text or "" for each in drawing.iter(f"{SVG}text")]
        assert "QM01, 2026/03/04 09:00" in texts[0]
        names = chart.locator("bdi").all_inner_texts()
        assert names
        assert {*names} <= {*texts}
        with opened.expect_download() as saved:
            chart.get_by_role("button", name="PNG").click()
        assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
    opened.keyboard.press("+")
    with opened.expect_download() as saved:
        shown_chart(opened).get_by_role("button", name="SVG").click()
    paths = ElementTree.parse(saved.value.path()).getroot().iter(f"{SVG}path")
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
    page = browser.new_page(viewport={"width": 1300, "height": 900}, color_scheme=scheme)
    ready(page, url)
    page.evaluate(script.read_text(encoding="utf-8"))
    tags = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
    found = page.evaluate("tags => axe.run(document, tags)", tags)
    page.close()
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


@pytest.mark.long
def test_a_phone_needs_no_scrolling_sideways(browser: Any, url: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    ready(page, url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator(".manager.shown .chart").first.is_visible()
    page.locator(".manager.shown .part > h3").first.click()
    assert page.locator(".manager.shown .chart").first.is_visible()
    page.close()


_CANVAS = "document.querySelector('.manager.shown .plot canvas').offsetWidth"
_OVERLAPS = """() => [...document.querySelectorAll(".manager.shown .plot")].filter((plot) => {
    const [canvas, legend] = ["canvas", ".legend"].map((each) => plot.querySelector(each));
    if (!canvas || !legend) return false;
    return canvas.getBoundingClientRect().right > legend.getBoundingClientRect().left + 1;
}).map((plot) => plot.parentElement.textContent.slice(0, 40))"""


@pytest.mark.long
def test_it_prints(browser: Any, url: str) -> None:
    page = browser.new_page()
    ready(page, url)
    page.locator(".manager.shown .chart").first.scroll_into_view_if_needed()
    page.wait_for_selector(".manager.shown .plot canvas")
    wide = page.evaluate(_CANVAS)
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate(_CANVAS) == wide
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('main').offsetWidth") == 703  # of A4
    assert page.evaluate(_OVERLAPS) == []
    assert 300 < page.evaluate(_CANVAS) < wide
    page.close()


@pytest.mark.long
def test_without_scripts_the_findings_of_all_queue_managers_are_there(
    browser: Any, url: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert page.locator(".manager:visible").count() == 2
    assert page.locator(".findings li:visible").count() > 0
    assert page.locator(".scripted:visible").count() == 0
    context.close()


def test_a_script_that_is_not_its_own_does_not_run(browser: Any, url: str) -> None:
    page = browser.new_page()
    ready(page, url)
    page.evaluate(
        "() => { const own = document.createElement('script'); own.textContent = "
        "'document.title = \"taken\"'; document.body.append(own); }"
    )
    assert page.title().startswith("IBM MQ for z/OS")
    page.close()


def test_all_is_drawn_before_the_page_is_loaded_so_that_a_print_has_every_chart(
    browser: Any, url: str
) -> None:
    """As `chromium --headless --print-to-pdf` prints: at once when the page is loaded."""
    with silent(browser, url) as page:
        page.add_init_script(
            """addEventListener("load", () => {
                window.readyAtLoad = document.documentElement.dataset.ready;
                dispatchEvent(new Event("beforeprint"));
                const charts = [...document.querySelectorAll(".manager.shown .chart")];
                const drawn = charts.filter((each) => each.querySelector("canvas"));
                window.chartsAtLoad = [charts.length, drawn.length];
            })"""
        )
        page.goto(url)
        assert page.evaluate("window.readyAtLoad") == "true"
        charts, drawn = page.evaluate("window.chartsAtLoad")
        assert charts == drawn > 10
        assert not page.locator(".undrawn").is_visible()


def test_the_page_says_where_charts_are_not_drawn(browser: Any, url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert page.locator(".undrawn").inner_text() == "Charts are not drawn: scripts did not run."
    context.close()


UNPACK = """text => {
    const packed = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    return Array.from(inflated(packed));
}"""


def test_gzip_of_any_kind_of_block_is_unpacked(opened: Any) -> None:
    """Stored, of fixed codes, of own codes; the standard library packs."""
    draws = random.Random(1)
    texts = [
        b"",
        b"a",
        b"abc" * 4,
        draws.randbytes(70_000),
        b'{"v":[1,2,3]},' * 9000,
        bytes(draws.choice(b"0123456789,.") for _ in range(50_000)),
    ]
    for text in texts:
        for level in (0, 1, 6, 9):
            sent = base64.b64encode(gzip.compress(text, level, mtime=0)).decode()
            found = opened.evaluate(UNPACK, sent)
            assert bytes(found) == text, (len(text), level)
