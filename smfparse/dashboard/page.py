"""The page: one self-contained HTML file with a policy that blocks all other content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from smfparse.advice.wording import nothing_to
from smfparse.dashboard.findings import WASTE
from smfparse.dashboard.gathering import Earlier, Gathered
from smfparse.dashboard.managers import group_lines, manager_lines, missing_lines, worst_verdict
from smfparse.dashboard.payload import packed, payload
from smfparse.rendering.document import Cells, Column, Section, Table
from smfparse.rendering.figures import in_digits
from smfparse.rendering.html import BASE, TABLES, escaped, head_lines, joined, section_lines

_ASSETS = Path(__file__).with_name("assets")
_SCRIPTS = (_ASSETS / "uplot.js", _ASSETS / "inflate.js", TABLES, _ASSETS / "page.js")
_STYLES = (_ASSETS / "uplot.css", BASE, _ASSETS / "page.css")
_HELD = (
    *map(Column, ("System", "Queue manager", "Type")),
    *(Column(each, right=True) for each in ("Records", "Bytes")),
    *map(Column, ("From", "To")),
)
_KEYS = (
    ("0", "show the whole period"),
    ("+ -", "zoom in and out"),
    ("← →", "move to earlier and later times"),
    ("[ ]", "previous and next finding"),
    ("q", "next queue manager"),
    ("/", "go to the filter of a table"),
    ("t", "light or dark colours"),
    ("?", "show these keys"),
)


def page_lines(found: Gathered, before: Earlier | None = None) -> Iterator[str]:
    """Yield the lines of a page.

    before  an earlier period to compare with; None: none
    """
    script, style = joined(_SCRIPTS), joined(_STYLES)
    title = ", ".join(each.times.name for each in found.days) or "no data"
    yield from head_lines(f"IBM MQ for z/OS: {title}", script, style)
    yield from _bar(found)
    yield "<main>"
    if found.days:
        yield '<p class="undrawn">Charts are not drawn: scripts did not run.</p>'
    yield from group_lines(found)
    earlier = {each.times.key: each for each in before.days} if before else {}
    for number, day in enumerate(found.days):
        yield from manager_lines(day, number, found, earlier.get(day.times.key))
    if not found.days:
        yield f"<p>{nothing_to('show')}</p>"
    if before is not None:
        yield from _changes(before)
    yield from missing_lines(found)
    yield from _held(found)
    yield "</main>"
    yield from _help()
    if found.days:
        data = packed(payload(found, before.days if before else ()))
        yield f'<script type="application/gzip;base64" id="data">{data}</script>'
        yield f"<script>{script}</script>"
    yield from ("</body>", "</html>")


def _bar(found: Gathered) -> Iterator[str]:
    """Yield the bar with queue managers and, if scripts run, time and overview."""
    yield '<header class="bar"><h1>IBM MQ for z/OS</h1><nav aria-label="Queue managers">'
    for number, day in enumerate(found.days):
        worst = worst_verdict(day)
        mark = f' <span title="{worst.words}">{worst.symbol}</span>' if worst.order <= WASTE else ""
        name = f"<bdi>{escaped(day.times.qmgr or day.times.name)}</bdi>"
        yield f'<a class="button manager-link" href="#m{number}">{name}{mark}</a>'
    yield "</nav>"
    yield (
        '<span id="span" role="status"></span><span class="tools scripted">'
        '<button id="whole" type="button">Whole time</button>'
        '<button id="print" type="button">Print</button>'
        '<button id="theme" type="button" aria-label="Light or dark">◐</button>'
        '<button id="keys" type="button" aria-label="Keys">?</button></span>'
        '<div id="brush" class="scripted"></div></header>'
    )


def _changes(before: Earlier) -> Iterator[str]:
    """Yield the cost of calls before and after, as shown by the command `compare`."""
    yield '<section class="part" id="changes"><h2>Changes since the earlier period</h2>'
    for section in before.changes.sections():
        yield from section_lines(section, 3)
    yield "</section>"


def _held(found: Gathered) -> Iterator[str]:
    yield '<section class="part" id="held"><h2>Records in the input</h2>'
    yield from section_lines(Section("", [Table(_HELD, _held_rows(found), "Records by type")]))
    if found.damage:
        yield "<h3>Damage</h3><ul>"
        yield from (f"<li>{escaped(each)}</li>" for each in found.damage[:100])
        yield "</ul>"
    else:
        yield "<p>No damage: every byte was used.</p>"
    yield "</section>"


def _held_rows(found: Gathered) -> Iterator[Cells]:
    for each in found.held:
        subtype = "" if each["subtype"] is None else f"/{each['subtype']}"
        counts = (in_digits(each[key]) for key in ("records", "bytes"))
        moments = (each[key] for key in ("earliest", "latest"))
        times = (f"{moment:%Y/%m/%d %H:%M}" if moment else "-" for moment in moments)
        yield [each["system"], each["qmgr"], f"{each['type']}{subtype}", *counts, *times]


def _help() -> Iterator[str]:
    yield '<dialog id="help" aria-label="Keys"><h2>Keys</h2><dl>'
    for key, what in _KEYS:
        yield f"<dt><kbd>{key}</kbd></dt><dd>{what}</dd>"
    yield '</dl><form method="dialog"><button>Close</button></form></dialog>'
