"""The page: one HTML file that needs nothing else, and whose policy lets nothing else in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from smfparse.advice import nothing_to
from smfparse.dashboard.findings import WASTE
from smfparse.dashboard.gathering import Gathered
from smfparse.dashboard.groups import group_lines
from smfparse.dashboard.managers import manager_lines, missing_lines, worst_verdict
from smfparse.dashboard.payload import packed, payload
from smfparse.rendering import BASE, TABLES, escaped, head_lines, in_digits, joined, section_lines

if TYPE_CHECKING:
    from smfparse.dashboard.earlier import Earlier

_ASSETS = Path(__file__).with_name("assets")
_SCRIPTS = (_ASSETS / "uplot.js", _ASSETS / "inflate.js", TABLES, _ASSETS / "page.js")
_STYLES = (_ASSETS / "uplot.css", BASE, _ASSETS / "page.css")
_KEYS = (
    ("0", "the whole time"),
    ("+ -", "in and out"),
    ("← →", "to earlier and later"),
    ("[ ]", "the finding before, the next one"),
    ("q", "the next queue manager"),
    ("/", "to the filter of a table"),
    ("t", "light and dark"),
    ("?", "these keys"),
)


def page_lines(found: Gathered, before: Earlier | None = None) -> Iterator[str]:
    """Yield the lines of a page.

    before  an earlier time that it is compared with
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
    """Yield the bar: queue managers, and with scripts the time and the overview."""
    yield '<header class="bar"><h1>IBM MQ for z/OS</h1><nav aria-label="Queue managers">'
    for number, day in enumerate(found.days):
        worst = worst_verdict(day)
        mark = f' <span title="{worst.words}">{worst.symbol}</span>' if worst.order <= WASTE else ""
        name = named(day.times.qmgr or day.times.name)
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


def named(name: str) -> str:
    """Return a name of the data as HTML: it cannot reorder what stands beside it."""
    return f"<bdi>{escaped(name)}</bdi>"


def _changes(before: Earlier) -> Iterator[str]:
    """Yield the cost of calls before and after, as the command `compare` shows it."""
    yield '<section class="part" id="changes"><h2>Changes since the earlier period</h2>'
    for section in before.changes.sections():
        yield from section_lines(section, 3)
    yield "</section>"


def _held(found: Gathered) -> Iterator[str]:
    """Yield the records of the input by type, and the damage."""
    yield '<section class="part" id="held"><h2>Records in the input</h2>'
    headings = ("System", "Queue manager", "Type", "Records", "Bytes", "From", "To")
    kinds = [' class="n"' if each in ("Records", "Bytes") else "" for each in headings]
    rows = [
        (
            *(named(each[key]) for key in ("system", "qmgr")),
            f"{each['type']}" + (f"/{each['subtype']}" if each["subtype"] is not None else ""),
            in_digits(each["records"]),
            in_digits(each["bytes"]),
            *(
                f"{each[key]:%Y/%m/%d %H:%M}" if each[key] else "-"
                for key in ("earliest", "latest")
            ),
        )
        for each in found.held
    ]
    yield '<div class="wide" tabindex="0" role="region" aria-label="Records"><table class="data">'
    yield "<thead><tr>"
    yield from (
        f'<th scope="col"{kind}>{each}</th>' for each, kind in zip(headings, kinds, strict=True)
    )
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = (f"<td{kind}>{each}</td>" for each, kind in zip(row, kinds, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    if found.damage:
        yield "<h3>Damage</h3><ul>"
        yield from (f"<li>{escaped(each)}</li>" for each in found.damage[:100])
        yield "</ul>"
    else:
        yield "<p>No damage: every byte was used.</p>"
    yield "</section>"


def _help() -> Iterator[str]:
    yield '<dialog id="help" aria-label="Keys"><h2>Keys</h2><dl>'
    for key, what in _KEYS:
        yield f"<dt><kbd>{key}</kbd></dt><dd>{what}</dd>"
    yield '</dl><form method="dialog"><button>Close</button></form></dialog>'
