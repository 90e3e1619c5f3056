"""The inventory of inputs as a document."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smfparse.rendering.document import Cells, Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import ABSENT
from smfparse.rendering.text import aligned

if TYPE_CHECKING:
    from smfparse.errors import Damage, DamageLog
    from smfparse.inputs.opening import Inputs
    from smfparse.inspecting.inventory import Group, Inventory, Loss
    from smfparse.metrics.calendar import Coverage

SHOWN_DAMAGE = 20
"""Maximum number of listed damages; further damages are counted."""
_HEADINGS = (
    *("System", "QMgr", "Version", "Type", "Subtype", "Records", "Bytes", "First", "Last"),
    *("Trace", "Blocks"),
)
_NUMBERS = {"Type", "Subtype", "Records", "Bytes"}
_COLUMNS = [Column(name, name in _NUMBERS) for name in _HEADINGS]
_DAMAGE = (Column("Bytes", right=True), Column("Damage"))
_UNKNOWN = (Column("Place"), Column("Bytes", right=True))
_INPUTS = (Column("Input"), Column("Compression"), Column("Framing"), Column("Why"))
_STATISTICS = "START TRACE(STAT) CLASS(1) writes them"
_UNKNOWN_BYTES = "Bytes without a column (later MQ version, or IBM-internal)"


class InventoryDocument(Document):
    """The inventory of inputs: counts of records, compression and framing of each input, damage.

    Notes list losses of SMF records, because metrics of that time are too low. Notes also list TOD
    clocks ahead of UTC, because all times are corrected by the difference.

    coverage  completeness of the data of each queue manager
    """

    title = "Records of the inputs"

    def __init__(self, opened: Inputs, found: Inventory, coverage: Sequence[Coverage] = ()) -> None:
        self._opened, self._coverage = opened, coverage
        self._groups, self._losses, self._ahead = found

    def sections(self) -> Iterator[Section]:
        """Yield the table of records, then the inputs, their damage and unknown bytes."""
        notes = self._notes()
        notes += [f"{left_out(self._opened.duplicates)}."] if self._opened.duplicates else []
        yield Section("", [Table(_COLUMNS, self._rows(), "Records")], notes)
        for each in self._coverage:
            yield Section(_answer(each), notes=[*_notes_of(each)])
        yield Section("", [Table(_INPUTS, map(_cells_of, self._opened.sources), "Inputs")])
        if found := self._opened.met:
            cells = [(_size(each), str(each)) for each in found.details[:SHOWN_DAMAGE]]
            rest = [f"... {more(found)}"] if found.count > SHOWN_DAMAGE else []
            yield Section(_lost(found), [Table(_DAMAGE, cells, "Damage")], rest)
        if unknown := sorted(self._opened.log.unknown.items()):
            cells = [(name, f"{size:,}") for name, size in unknown]
            yield Section("", [Table(_UNKNOWN, cells, _UNKNOWN_BYTES)])

    def tables(self) -> Iterator[Values]:
        """Yield the records by kind."""
        rows = (
            dataclasses.asdict(each) | {"trace": each.trace, "blocks": each.content}
            for each in self._groups
        )
        yield Values.of(self.title, [*_names(), "trace", "blocks"], rows)

    def facts(self) -> Iterator[Facts]:
        """Yield the counts, inputs, duplicates and damage by name."""
        from smfparse.inputs.sources import damage_rows

        opened = self._opened
        inputs = [{"name": each.name} | each.arrival._asdict() for each in opened.sources]
        found = {
            "inputs": inputs,
            "records": sum(group.records for group in self._groups),
            "bytes": sum(group.bytes for group in self._groups),
            "groups": [
                _facts(group)
                | {
                    "trace": group.trace or None,
                    "blocks": group.content.split() if group.subtype is not None else [],
                }
                for group in self._groups
            ],
            "lost": [_plain(dataclasses.asdict(each)) for each in self._losses],
            "seconds_ahead": [
                {"system": system, "seconds": seconds} for system, seconds in self._ahead.items()
            ],
            "duplicates": opened.duplicates,
            "unknown_bytes": dict(sorted(opened.log.unknown.items())),
            "coverage": [each.facts for each in self._coverage],
            "damage": damage_rows(opened.met).to_pylist(),
            "damage_count": opened.met.count,
        }
        yield Facts(found, indent=2)

    def printed(self) -> Iterator[str]:
        """Yield the table of records, then lines about the inputs."""
        opened = self._opened
        yield from aligned(_COLUMNS, self._rows())
        yield ""
        if notes := self._notes():
            yield from (*notes, "")
        for each in self._coverage:
            yield _answer(each)
            yield from (f"  {reason}" for reason in _notes_of(each))
        if self._coverage:
            yield ""
        for source in opened.sources:
            packing = ", ".join([*source.arrival.packing, source.arrival.framing or "Parquet"])
            yield f"{source.name}: {packing} ({source.arrival.why})"
        if opened.duplicates:
            yield from ("", f"{left_out(opened.duplicates)}.")
        yield from _damage(opened.met)
        if opened.log.unknown:
            yield from ("", f"{_UNKNOWN_BYTES}:")
            for name, size in sorted(opened.log.unknown.items()):
                yield f"  {name:<20}{size:>15,}"

    def _notes(self) -> list[str]:
        ahead = [_ahead_text(*each) for each in self._ahead.items()]
        return [*map(_loss_text, self._losses), *ahead]

    def _rows(self) -> list[Cells]:
        return [*map(_cells, self._groups), _total(self._groups)]


def _answer(coverage: Coverage) -> str:
    missing = f": {'; '.join(coverage.missing)}" if coverage.missing else ""
    if not coverage.is_judged and not missing:
        is_off = "STAT(1)" in coverage.absent_classes
        missing = f": only statistics show gaps; {_STATISTICS if is_off else 'none are selected'}"
    return f"{coverage.qmgr} on {coverage.system}: {coverage.answer}{missing}"


def _notes_of(coverage: Coverage) -> Iterator[str]:
    """Yield notes about data that MQ did not record, and about the interpretation of the data."""
    if coverage.absent_classes:
        yield f"no records of {', '.join(coverage.absent_classes)}"
    yield from (*coverage.switched_off, *coverage.notes)


def _cells_of(source: Any) -> Cells:
    arrival = source.arrival
    return (
        source.name,
        ", ".join(arrival.packing) or ABSENT,
        arrival.framing or "Parquet",
        arrival.why,
    )


def _damage(found: DamageLog) -> Iterator[str]:
    if not found:
        return
    yield from ("", _lost(found))
    for each in found.details[:SHOWN_DAMAGE]:
        yield f"  {_size(each):>12} bytes: {each}"
    if found.count > SHOWN_DAMAGE:
        yield f"  ... {more(found)}"


def _lost(found: DamageLog) -> str:
    return f"Could not be used: {found.count:,}"


def _size(damage: Damage) -> str:
    return "all" if damage.length is None else f"{damage.length:,}"


def _cells(group: Group) -> Cells:
    texts = (group.system, group.qmgr, group.mq_version, group.type, group.subtype)
    return (
        *(ABSENT if each is None else str(each) for each in texts),
        f"{group.records:,}",
        f"{group.bytes:,}",
        _moment(group.first),
        _moment(group.last),
        group.trace,
        group.content,
    )


def _total(groups: Sequence[Group]) -> Cells:
    recorded = [group for group in groups if not group.of_dump]
    first = [group.first for group in recorded if group.first is not None]
    last = [group.last for group in recorded if group.last is not None]
    return (
        *("Total", "", "", "", ""),
        f"{sum(group.records for group in groups):,}",
        f"{sum(group.bytes for group in groups):,}",
        _moment(min(first, default=None)),
        _moment(max(last, default=None)),
        "",
        "",
    )


def _moment(moment: dt.datetime | None) -> str:
    return ABSENT if moment is None else f"{moment:%Y/%m/%d %H:%M:%S}"


def _names() -> list[str]:
    from smfparse.inspecting.inventory import Group

    return [each.name for each in dataclasses.fields(Group)]


def _facts(group: Group) -> dict[str, Any]:
    return _plain(dataclasses.asdict(group))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, dt.datetime) else value
        for name, value in values.items()
    }


def _loss_text(loss: Loss) -> str:
    count = "an unknown number of" if loss.records is None else f"{loss.records:,}"
    return (
        f"SMF lost {count} record{'' if loss.records == 1 else 's'} of {loss.system} from "
        f"{_moment(loss.start)} to {_moment(loss.end)} (type 7, lost data)."
    )


def _ahead_text(system: str, seconds: int) -> str:
    return (
        f"{system}: TOD clock {seconds} seconds ahead of UTC (leap seconds); all times are "
        "corrected."
    )


def left_out(duplicates: int) -> str:
    """Return a sentence about the number of records that were omitted as duplicates."""
    if duplicates == 1:
        return "1 record is also in an earlier dump and is counted once"
    return f"{duplicates:,} records are also in an earlier dump and are counted once"


def more(damage: DamageLog) -> str:
    """Return a sentence with the number of damages not shown, and the table that lists damage."""
    kept = len(damage.details)
    first = "" if damage.count == kept else f" the first {kept:,} of"
    rest = damage.count - SHOWN_DAMAGE
    return f"and {rest:,} more; the table damage lists{first} all (smfparse sql)"
