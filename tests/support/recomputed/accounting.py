"""What the recomputations of reports of accounting (116) share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from smfparse import reports

VERBS = ("open", "close", "get", "put", "put1", "inq", "set", "cb")
CF_REQUESTS = (
    "Lock", "Unlock", "Write list controls", "Signal XCF", "Signal CF", "Read", "Write",
    "Start monitoring", "Stop monitoring", "Read list", "New", "Move", "MoveEnt", "Delete",
)  # fmt: skip
BANDS = [f"qmac{verb}{band}" for verb in ("put", "get") for band in "abcd"]
"""Puts and gets by size of message."""


def added(names: Sequence[str], kind: pl.DataType | type[pl.DataType] = pl.Float64) -> pl.Expr:
    """Add fields of a row; what a release does not record counts as nothing."""
    return pl.sum_horizontal(pl.col(name).cast(kind).fill_null(0) for name in names)


def with_tokens(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Add what identifies a task: 16 bytes, of which WTAS has a moment and two numbers."""
    if table == "wqst":
        token = pl.col("correl").map_elements(_of_correl, return_dtype=pl.String)
        return frame.with_columns(token=token)
    moment = pl.col("wtasstrt").dt.epoch("us").cast(pl.Int64).fill_null(-_TOD_EPOCH)
    parts = pl.struct(moment, "wtasmthr", "wtaswtas")
    return frame.with_columns(token=parts.map_elements(_of_parts, return_dtype=pl.String))


_TOD_EPOCH = 2_208_988_800_000_000
"""Microseconds from 1900, where the TOD clock starts, to 1970."""


def _of_correl(correl: str) -> str:
    return f"{int(correl[:16], 16) >> 12:013X}-{correl[16:24]}-{correl[24:]}"


def _of_parts(parts: Mapping[str, int]) -> str:
    words = (parts[name] % 2**32 for name in ("wtasmthr", "wtaswtas"))
    return "-".join([f"{parts['wtasstrt'] + _TOD_EPOCH:013X}", *(f"{word:08X}" for word in words)])


def shown(report: str, frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the sections, and what a report shows of a frame."""
    names = {each.name for each in reports.report(report).figures} - {*keys}
    return frame.select(*keys, *(each for each in frame.columns if each in names))
