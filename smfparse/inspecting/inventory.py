"""The contents of inputs: records and bytes by system, queue manager, version, type and subtype.

SMF records of type 7 show losses of records. If a selection matches no record, the message contains
`extent_text`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrow import Batch, every_block
from smfparse.decoding.dictionary import RECORD
from smfparse.decoding.selection import NAMED, Selection
from smfparse.decoding.zones import COUNTED_AT
from smfparse.errors import did_you_mean
from smfparse.inputs.opening import Inputs, with_all_records
from smfparse.inputs.sources import SmfFile
from smfparse.metrics.calendar import (
    Coverage,
    calendar_macros,
    calendar_query,
    calendars_of,
    coverage_of,
    coverage_query,
)
from smfparse.metrics.views import named_macros
from smfparse.rendering.figures import few
from smfparse.schemas import (
    ACCOUNTING,
    DATA_LOST,
    DUMP_HEADER,
    DUMP_TRAILER,
    REGISTRY,
    SIGNATURES,
    SMF7,
    STATISTICS,
    TRACES,
)
from smfparse.vectors import Ints

LOST = SMF7.name.lower()
"""Name of the table of type 7 records."""
LOST_COLUMNS = frozenset({"system", "smf_time", "smf7nro", "smf7stm", "smf7nrf", "smf7nrox"})


@dataclass(frozen=True)
class Loss:
    """A loss of SMF records: system, local start and end, number of records; None: unknown."""

    system: str
    start: dt.datetime | None
    end: dt.datetime | None
    records: int | None


def lost_records(losses: Iterable[Loss]) -> dict[str, int | None]:
    """Return the number of records that each system lost; None: number unknown."""
    found: dict[str, int | None] = {}
    for each in losses:
        before = found.get(each.system, 0)
        unknown = before is None or each.records is None
        found[each.system] = None if unknown else (before or 0) + (each.records or 0)
    return found


def losses_in(batch: Batch) -> Iterator[Loss]:
    """Yield the losses in a batch of the table LOST; the batch contains LOST_COLUMNS."""
    for row in batch.select(sorted(LOST_COLUMNS)).to_pylist():
        records = row["smf7nrox"] if row["smf7nrf"] else row["smf7nro"]
        yield Loss(row["system"], row["smf7stm"], row["smf_time"], records)


_OF_SMF = {
    DUMP_HEADER: "SMF dump header",
    DUMP_TRAILER: "SMF dump trailer",
    DATA_LOST: "lost data",
}
"""Content of records that SMF writes about itself, by SMF type."""
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
    """Records of one system, queue manager, version, type and subtype; times: local SMF times."""

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
        """The MQ trace and class that write these records, as `STAT 1`; '': no known trace."""
        return "" if self.subtype is None else TRACES.get((self.type, self.subtype), "")


class Inventory(NamedTuple):
    """The contents of inputs; the losses are in the order of the type 7 records.

    ahead  {system: maximum seconds by which its TOD clock was ahead of UTC}
    """

    groups: list[Group]
    losses: list[Loss]
    ahead: dict[str, int]


def inventory(inputs: Inputs) -> Inventory:
    """Count the records of `inputs`. Damage and bytes without a column are added to `inputs.log`.

    Only record headers are decoded. Blocks are only located, to find damaged blocks.
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
    """Yield (system, maximum seconds) for each system whose TOD clock is ahead of UTC."""
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


_NEAR = 3
_HALF = dt.timedelta(minutes=30)
"""Half of the longest expected interval: an interval counts at its middle."""
_COUNTING = "where an interval counts at its middle; select a longer time"
_EXTENT_COLUMNS = frozenset({"system", "qmgr", "type", "counted_at"})


def extent_text(inputs: Inputs) -> str:
    """Describe all records, selected or not: queue managers, times, types, similar names."""
    selection, every = inputs.selection, with_all_records(inputs)
    managers: set[str] = set()
    types: set[int] = set()
    times: list[dt.datetime] = []
    for _, batch in every.batches({RECORD: _EXTENT_COLUMNS}):
        whose = pa.Table.from_batches([batch]).select(["system", "qmgr", "type"])
        for row in whose.group_by(whose.column_names).aggregate([]).to_pylist():
            types.add(row["type"])
            if row["qmgr"]:
                managers.add(f"{row['qmgr']} on {row['system']}")
        if counted := [*filter(None, batch["counted_at"].unique().to_pylist())]:
            times += [min(counted), max(counted)]
    parts = [few(sorted(managers)) or "no queue manager"]
    if times:
        parts.append(f"{min(times):%Y/%m/%d %H:%M} to {max(times):%Y/%m/%d %H:%M}")
    if selection.types:
        parts.append(f"types {few([str(each) for each in sorted(types)])}")
    if times and selection.time_column == COUNTED_AT and _meet(times, selection):
        parts.append(_COUNTING)
    near = [_near(every, option, names) for option, names in selection.by_name.items()]
    return "; ".join([f"the input covers {', '.join(parts)}", *filter(None, near)])


def _meet(times: Collection[dt.datetime], selection: Selection) -> bool:
    """Whether intervals may overlap the selected time; `times`: middles of intervals."""
    start, end = selection.start or min(times), selection.end or max(times)
    return start - _HALF <= max(times) and min(times) <= end + _HALF


def _near(every: Inputs, option: str, asked: Iterable[str]) -> str:
    """Return `did you mean ...?` with names similar to the selected names; '': no similar names."""
    known = {*_names(every, option)}
    near = dict.fromkeys(
        name
        for each in sorted(asked)
        if each.upper() not in known
        for name in get_close_matches(each.strip("*").upper(), sorted(known), _NEAR)
    )
    return did_you_mean(near, "", option)


def _names(every: Inputs, option: str) -> Iterator[str]:
    wanted = {table: frozenset(columns) for table, columns in NAMED[option].items()}
    for table, batch in every.batches(wanted):
        for column in NAMED[option][table]:
            yield from filter(None, batch[column].unique().to_pylist())


def coverage_in(inputs: Inputs, found: Inventory) -> list[Coverage]:
    """Return the completeness of each queue manager's data; [] for selected jobs, queues, channels.

    The records of selected jobs, queues or channels do not show gaps.
    """
    from smfparse.query.catalog import Catalog

    selection = inputs.selection
    if selection.by_name:
        return []
    queries = [calendar_query(), coverage_query()]
    with Catalog(inputs) as catalog:
        catalog.define(named_macros(" ".join(queries), calendar_macros(selection)))
        intervals, figures = catalog.arrows(queries)
    return coverage_of(
        calendars_of(intervals, inputs.zone),
        figures,
        lost_records(found.losses),
        lambda *record: not selection.types or selection.has_type(*record),
        inputs.met.count,
    )
