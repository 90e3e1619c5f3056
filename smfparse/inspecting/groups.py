"""What is in the inputs: records and bytes by system, queue manager, version, type and subtype."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import polars as pl

from smfparse.inputs import Inputs, SmfFile
from smfparse.schemas import ACCOUNTING, DUMP_HEADER, DUMP_TRAILER, REGISTRY, STATISTICS
from smfparse.tables import RECORD, every_block

_DUMP_RECORDS = {DUMP_HEADER: "SMF dump header", DUMP_TRAILER: "SMF dump trailer"}
_BY = ["system", "qmgr", "mq_version", "type", "subtype"]
_COLUMNS = frozenset({*_BY, "length", "smf_time"})


@dataclass(frozen=True)
class Group:
    """Records of one kind: how many, their bytes, first and last SMF time (local)."""

    system: str | None
    qmgr: str | None
    mq_version: str | None
    type: int
    subtype: int | None
    records: int
    bytes: int
    first: dt.datetime | None
    last: dt.datetime | None

    @property
    def content(self) -> str:
        """Names of the control blocks that such a record holds, as far as they are decoded."""
        if self.type in (STATISTICS, ACCOUNTING) and self.subtype is not None:
            blocks = REGISTRY.get((self.type, self.subtype), {})
            return " ".join(block.name for block in blocks.values())
        return _DUMP_RECORDS.get(self.type, "")


def inventory(inputs: Inputs) -> list[Group]:
    """Count the records of `inputs`, and in their log damage and the bytes that no column knows.

    Nothing but headers is decoded; blocks are looked for, as damage is reported in them.
    """
    inputs.log.count_unknown = True
    checked = every_block() if any(isinstance(each, SmfFile) for each in inputs.sources) else {}
    parts = [
        _grouped(pl.DataFrame(batch).with_columns(pl.lit(1).alias("records")))
        for table, batch in inputs.batches({RECORD: _COLUMNS, **checked})
        if table == RECORD
    ]
    if not parts:
        return []
    total = _grouped(pl.concat(parts))
    return [Group(**row) for row in total.sort(_BY, nulls_last=True).iter_rows(named=True)]


def _grouped(rows: pl.DataFrame) -> pl.DataFrame:
    """Add rows of records, or of earlier groups, up by kind."""
    if "length" in rows.columns:
        rows = rows.rename({"length": "bytes"}).with_columns(first="smf_time", last="smf_time")
    return rows.group_by(_BY).agg(
        pl.col("records").sum().cast(pl.Int64),
        pl.col("bytes").sum(),
        pl.col("first").min(),
        pl.col("last").max(),
    )
