"""The contents of inputs: records and bytes by system, queue manager, version, type and subtype."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa

from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import SmfFile
from smfparse.inspecting.losses import LOST, LOST_COLUMNS, Loss, losses_in
from smfparse.schemas import (
    ACCOUNTING,
    DATA_LOST,
    DUMP_HEADER,
    DUMP_TRAILER,
    REGISTRY,
    SIGNATURES,
    STATISTICS,
    TRACES,
)
from smfparse.tables.arrow import Batch, every_block
from smfparse.tables.dictionary import RECORD
from smfparse.vectors import Ints

_OF_SMF = {
    DUMP_HEADER: "SMF dump header",
    DUMP_TRAILER: "SMF dump trailer",
    DATA_LOST: "lost data",
}
"""The names of records about SMF itself."""
_SIGNATURE = "SMF signature record"
_BY = ["system", "qmgr", "mq_version", "type", "subtype"]
_AHEAD = "seconds_ahead"
_COLUMNS = frozenset({*_BY, "length", "smf_time", _AHEAD})
_Kind: TypeAlias = tuple[Any, Any, Any, Any, Any]
"""Values of the columns `_BY`."""
_Figures: TypeAlias = tuple[int, int, dt.datetime | None, dt.datetime | None]
"""Number of records, bytes, first and last SMF time."""


@dataclass(frozen=True)
class Group:
    """Records of one kind: number of records and bytes, first and last SMF time (local)."""

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
        """Names of the decoded control blocks in these records."""
        if self.type in (STATISTICS, ACCOUNTING) and self.subtype is not None:
            blocks = REGISTRY.get((self.type, self.subtype), {})
            return " ".join(block.name for block in blocks.values())
        if self.type == DUMP_HEADER and self.subtype in SIGNATURES:
            return _SIGNATURE
        return _OF_SMF.get(self.type, "")

    @property
    def of_dump(self) -> bool:
        """Whether the SMF dump job wrote these records; their times are times of the job."""
        return self.content in (_OF_SMF[DUMP_HEADER], _OF_SMF[DUMP_TRAILER])

    @property
    def trace(self) -> str:
        """The trace and class that write these records: `STAT 1`; '': not records of MQ."""
        return "" if self.subtype is None else TRACES.get((self.type, self.subtype), "")


class Inventory(NamedTuple):
    """The contents of inputs: records by kind, and losses of SMF in the order of the records.

    ahead  maximum seconds by which the TOD clock of a system was ahead of UTC; only such systems
    """

    groups: list[Group]
    losses: list[Loss]
    ahead: dict[str, int]


def inventory(inputs: Inputs) -> Inventory:
    """Count the records of `inputs`. Damage and bytes without a column are added to `inputs.log`.

    Only headers are decoded; blocks are located, because damage of blocks is reported.
    """
    inputs.log.count_unknown = True
    checked = every_block() if any(isinstance(each, SmfFile) for each in inputs.sources) else {}
    found: dict[_Kind, _Figures] = {}
    losses: list[Loss] = []
    ahead: dict[str, int] = {}
    for table, batch in inputs.batches({**checked, RECORD: _COLUMNS, LOST: LOST_COLUMNS}):
        if table == LOST:
            losses += losses_in(batch)
        if table == RECORD:
            for kind, figures in _counted(batch):
                found[kind] = _added(found[kind], figures) if kind in found else figures
            for system, seconds in _ahead(batch):
                ahead[system] = max(seconds, ahead.get(system, 0))
    inputs.log.count_unknown = False
    in_order = sorted(found, key=lambda kind: [(each is None, each) for each in kind])
    groups = [Group(*kind, *found[kind]) for kind in in_order]
    return Inventory(groups, losses, dict(sorted(ahead.items())))


def _ahead(batch: Batch) -> Iterator[tuple[str, int]]:
    """Yield the systems of a batch with a TOD clock ahead of UTC, each with the seconds."""
    ahead = np.nan_to_num(batch[_AHEAD].to_numpy(zero_copy_only=False))
    system = _codes(batch["system"])
    for each in np.unique(system[ahead > 0]):
        alike = np.where(system == each, ahead, 0)
        row = int(alike.argmax())
        yield batch["system"][row].as_py() or "-", int(alike[row])


def _counted(batch: Batch) -> Iterator[tuple[_Kind, _Figures]]:
    if not batch.num_rows:
        return
    codes = [_codes(batch[name]) for name in _BY]
    order = np.lexsort(codes)
    differs = [np.diff(each[order]) != 0 for each in codes]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(differs)))
    times = batch["smf_time"].to_numpy(zero_copy_only=False)[order]
    figures = (
        np.diff(np.append(starts, len(order))),
        np.add.reduceat(batch["length"].to_numpy()[order], starts),
        np.fmin.reduceat(times, starts),
        np.fmax.reduceat(times, starts),
    )
    of_each = zip(*(each.tolist() for each in figures), strict=True)
    for row, found in zip(order[starts].tolist(), of_each, strict=True):
        yield cast("_Kind", tuple(batch[name][row].as_py() for name in _BY)), found


def _codes(column: Any) -> Ints:
    """Return numbers that distinguish the values of a column; -1 is NULL."""
    if pa.types.is_string(column.type):
        column = column.dictionary_encode()
    numbers = column.indices if pa.types.is_dictionary(column.type) else column
    found = numbers.to_numpy(zero_copy_only=False)
    return np.where(np.isnan(found), -1, found).astype(np.int64)


def _added(left: _Figures, right: _Figures) -> _Figures:
    times = [each for each in (*left[2:], *right[2:]) if each is not None]
    span = (min(times), max(times)) if times else (None, None)
    return left[0] + right[0], left[1] + right[1], *span
