"""The page: one HTML file that needs nothing else, and whose policy lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from smfparse.dashboard.gathering import Gathered
from smfparse.dashboard.managers import manager_lines, missing_lines
from smfparse.dashboard.payload import packed, payload
from smfparse.dashboard.sheets import counted
from smfparse.rendering import escaped

_ASSETS = Path(__file__).with_name("assets")
_SCRIPTS = ("uplot.js", "page.js")
_STYLES = ("uplot.css", "page.css")
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


def page_lines(found: Gathered, before: Gathered | None = None) -> Iterator[str]:
    """Yield the lines of a page.

    before  an earlier time that courses are compared with
    """
    script, style = _text(_SCRIPTS), _text(_STYLES)
    title = ", ".join(each.name for each in found.days) or "no data"
    yield from (
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>IBM MQ for z/OS: {escaped(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
    )
    yield from _bar(found)
    yield "<main>"
    for number, day in enumerate(found.days):
        yield from manager_lines(day, number, found)
    if not found.days:
        yield "<p>The input has no statistics or accounting of MQ that a page shows.</p>"
    yield from missing_lines(found)
    yield from _held(found)
    yield "</main>"
    yield from _help()
    if found.days:
        data = packed(payload(found, before))
        yield f'<script type="application/gzip;base64" id="data">{data}</script>'
        yield f"<script>{script}</script>"
    yield from ("</body>", "</html>")


def policy(script: str, style: str) -> str:
    """Return the policy of a page: nothing but this script and this style, and no network."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _text(names: tuple[str, ...]) -> str:
    """Return what several files of the package hold, as it stands in a page."""
    return "\n".join((_ASSETS / name).read_text("utf-8").strip() for name in names)


def _bar(found: Gathered) -> Iterator[str]:
    """Yield the bar: queue managers, and with scripts the time and the overview."""
    yield '<header class="bar"><h1>IBM MQ for z/OS</h1><nav aria-label="Queue managers">'
    for number, day in enumerate(found.days):
        yield f'<a class="manager-link" href="#m{number}">{named(day.times.qmgr or day.name)}</a>'
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


def _held(found: Gathered) -> Iterator[str]:
    """Yield what SMF held, by record type, and what could not be used."""
    yield '<section class="part" id="held"><h2>What SMF held</h2>'
    headings = ("System", "Queue manager", "Type", "Records", "Bytes", "From", "To")
    rows = [
        (
            *(named(each[key]) for key in ("system", "qmgr")),
            f"{each['type']}" + (f"/{each['subtype']}" if each["subtype"] is not None else ""),
            counted(each["records"]),
            counted(each["bytes"]),
            *(
                f"{each[key]:%Y/%m/%d %H:%M}" if each[key] else "-"
                for key in ("earliest", "latest")
            ),
        )
        for each in found.held
    ]
    yield '<div class="wide" tabindex="0" role="region" aria-label="Records"><table class="data">'
    yield "<thead><tr>"
    yield from (f'<th scope="col">{each}</th>' for each in headings)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{each}</td>' for each in row)}</tr>"
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
