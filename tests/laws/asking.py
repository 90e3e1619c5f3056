"""Questions to smfparse about a site of clocks, and what is true of it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import smfparse
from tests.support.clocks import Clock, Site, Span

Row = dict[str, Any]
Counts = Counter[str]
"""Calls by queue manager."""


def opened(paths: Path | Sequence[Path], selection: Any = None) -> smfparse.SmfData:
    return smfparse.open(paths, *([selection] if selection else []))


def rows(data: smfparse.SmfData, report: str, **asked: Any) -> list[Row]:
    found: list[Row] = data.report(report, **asked).to_pylist()
    return found


def tallied(found: Iterable[Row], *columns: str) -> Counts:
    """Add columns of rows by queue manager."""
    counts: Counts = Counter()
    for row in found:
        counts[row["qmgr"]] += sum(row.get(each) or 0 for each in columns)
    return +counts


def class_3_calls(data: smfparse.SmfData, **asked: Any) -> Counts:
    """Return puts and gets of class 3, over all sections that are asked for."""
    return tallied(rows(data, "qputs", **asked) + rows(data, "qgets", **asked), "putn", "getn")


def statistics_calls(data: smfparse.SmfData, **asked: Any) -> Counts:
    """Return puts and gets of statistics, over all sections that are asked for."""
    return tallied(rows(data, "msgm", **asked), "qmstput", "qmstget")


def without_places(found: Sequence[Row]) -> list[Row]:
    places = ("source", "record_no", "record_offset")
    return [{name: row[name] for name in row if name not in places} for row in found]


def true_calls(site: Site, spans: Callable[[Clock], Iterable[Span]]) -> Counts:
    return +Counter({each.qmgr: sum(span.calls for span in spans(each)) for each in site.clocks})


def hour_of(local: dt.datetime) -> dt.datetime:
    return local.replace(minute=0, second=0, microsecond=0)
