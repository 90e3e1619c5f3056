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
"""Columns of findings. `explained_by` is the diagnosis that explains a finding; '': none."""
_WORDS = ("evidence", "expect", "explained_by")
"""Columns at the end, which only tables contain."""


def row(finding: Finding) -> dict[str, Any]:
    """Return the facts of a finding: all columns except the last three."""
    kind, amount = finding.impact or ("", None)
    others = {
        "share": round(finding.share, 6),
        "longest_run": finding.longest.intervals if finding.longest else 0,
        "figure": shown(finding.figure) if finding.figure else "",
        "impact": amount,
        "impact_kind": kind,
    }
    return {
        name: others[name] if name in others else getattr(finding, name)
        for name in SCHEMA.names[: -len(_WORDS)]
    }


def rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield findings with all columns, each followed by the findings that it explains."""
    for each in findings:
        yield _whole_row(each, each.under)
        for under in each.explains:
            yield _whole_row(under, each.rule)


def _whole_row(finding: Finding, explained_by: str) -> dict[str, Any]:
    words = (evidence(finding), expected(finding), explained_by)
    return row(finding) | dict(zip(_WORDS, words, strict=True))


def table(findings: Iterable[Finding]) -> pa.Table:
    """Return findings as a pyarrow.Table of SCHEMA."""
    return pa.Table.from_pylist(list(rows(findings)), SCHEMA)
