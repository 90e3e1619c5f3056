"""Findings as rows: the same names and values in JSON, CSV and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from smfparse.advice.findings import Finding
from smfparse.advice.wording import evidence, expected, shown

SCHEMA = pa.schema(
    [
        ("severity", pa.int32()),
        ("rule", pa.string()),
        ("name", pa.string()),
        ("system", pa.string()),
        ("qmgr", pa.string()),
        ("object", pa.string()),
        ("job", pa.string()),
        ("start", pa.timestamp("us")),
        ("end", pa.timestamp("us")),
        ("persistence", pa.string()),
        ("crossed", pa.int64()),
        ("evaluated", pa.int64()),
        ("share", pa.float64()),
        ("longest_run", pa.int64()),
        ("figure", pa.string()),
        ("peak", pa.float64()),
        ("peak_at", pa.timestamp("us")),
        ("typical", pa.float64()),
        ("total", pa.float64()),
        ("impact", pa.float64()),
        ("impact_kind", pa.string()),
        ("since", pa.string()),
        ("evidence", pa.string()),
        ("expect", pa.string()),
        ("explained_by", pa.string()),
    ]
)
"""Columns of findings. `explained_by` is the diagnosis that one is under; '': none."""


def row(finding: Finding) -> dict[str, Any]:
    """Return what a finding is, when and how often: all columns but the last three."""
    kind, amount = finding.impact or ("", None)
    return {
        "severity": finding.severity,
        "rule": finding.rule,
        "name": finding.name,
        "system": finding.system,
        "qmgr": finding.qmgr,
        "object": finding.object,
        "job": finding.job,
        "start": finding.start,
        "end": finding.end,
        "persistence": finding.persistence,
        "crossed": finding.crossed,
        "evaluated": finding.evaluated,
        "share": round(finding.share, 6),
        "longest_run": finding.longest.intervals if finding.longest else 0,
        "figure": shown(finding.figure) if finding.figure else "",
        "peak": finding.peak,
        "peak_at": finding.peak_at,
        "typical": finding.typical,
        "total": finding.total,
        "impact": amount,
        "impact_kind": kind,
        "since": finding.since,
    }


def rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield findings with all columns, each followed by those that it explains."""
    for each in findings:
        yield row(each) | _words(each) | {"explained_by": ""}
        for under in each.explains:
            yield row(under) | _words(under) | {"explained_by": each.rule}


def _words(finding: Finding) -> dict[str, str]:
    return {"evidence": evidence(finding), "expect": expected(finding)}


def table(findings: Iterable[Finding]) -> pa.Table:
    """Return findings as a pyarrow.Table of SCHEMA."""
    return pa.Table.from_pylist(list(rows(findings)), SCHEMA)
