"""What smfparse makes of files: many at once, as a folder, so that an input costs little."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import smfparse
from corruption.cases import Manner
from smfparse.errors import InputError, OutputError
from smfparse.limits import Limits

COLUMNS = ("source", "record_offset", "length", "flags", "type", "subtype", "system", "subsystem")
SMALL_TABLES = {
    "qist": "qistmget",
    "qis1": "qis1psno",
    "qcct": "qcctnocc",
    "qcst": "qcstnmsg",
    "qmac": "qmacputa",
    "wqst": "openn",
}
SMALL = Limits(chunk_bytes=1 << 16, max_spanned=1 << 16)


@dataclass(frozen=True)
class Row:
    """A row of the table `record`."""

    offset: int
    length: int
    flags: int
    type: int
    subtype: int | None
    system: str | None
    subsystem: str | None


@dataclass(frozen=True)
class Damaged:
    """A row of the table `damage`: bytes that are told to be lost; `length` None: all behind."""

    offset: int
    length: int | None
    reason: str
    in_record: bool


@dataclass
class Reading:
    """What comes of a file.

    values   by table: byte of the record, and number in the block
    """

    rows: list[Row] = field(default_factory=list)
    damage: list[Damaged] = field(default_factory=list)
    values: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    refused: str | None = None
    failed: str | None = None
    framing: str | None = None


def read(folder: Path, files: Sequence[bytes], manner: Manner) -> tuple[list[Reading], float]:
    """Return what comes of each file, and the seconds of the processor that it took."""
    paths = [folder / f"{number:04}" for number in range(len(files))]
    for path, each in zip(paths, files, strict=True):
        path.write_bytes(each)
    began = time.process_time()
    try:
        found = _together(folder, paths, manner)
    except Exception:  # one of them fails, or all are refused
        found = [_alone(path, manner) for path in paths]
    spent = time.process_time() - began
    for path in paths:
        path.unlink()
    return found, spent


def _alone(path: Path, manner: Manner) -> Reading:
    try:
        return _together(path, [path], manner)[0]
    except (InputError, OutputError) as error:
        return Reading(refused=str(error))
    except Exception as error:  # that is what is looked for
        place = error.__traceback__
        while place and place.tb_next:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else ""
        return Reading(failed=f"{type(error).__name__} in {where}: {error}")


def _together(name: Path, paths: Sequence[Path], manner: Manner) -> list[Reading]:
    limits = SMALL if manner.small else Limits()
    data = smfparse.open(name, keep_duplicates=True, framing=manner.framing, limits=limits)
    found = {str(path): Reading() for path in paths}
    for source in data.inputs.sources:
        found[source.name].framing = source.arrival.framing
    for table, batch in data.inputs.batches(_wanted(manner.tables, data.tables)):
        if table == "record":
            _add_rows(found, batch)
            continue
        if table in SMALL_TABLES:
            _add_values(found, table, batch)
    for each in data.damage:
        _add_damage(found[each.source], each)
    return list(found.values())


def _wanted(tables: str, every: Sequence[str]) -> dict[str, frozenset[str] | None]:
    """Return the tables that are wanted, and of each the columns; None: all."""
    wanted: dict[str, frozenset[str] | None] = {"record": frozenset(COLUMNS)}
    if tables == "small":
        for table, column in SMALL_TABLES.items():
            wanted[table] = frozenset(("source", "record_offset", column))
    elif tables == "all":
        wanted |= dict.fromkeys(each for each in every if each not in ("record", "damage"))
    return wanted


def _add_rows(found: dict[str, Reading], batch: Any) -> None:
    columns = [batch[name].to_pylist() for name in COLUMNS]
    for source, *cells in zip(*columns, strict=True):
        found[source].rows.append(Row(*cells))


def _add_values(found: dict[str, Reading], table: str, batch: Any) -> None:
    names = ("source", "record_offset", SMALL_TABLES[table])
    for source, offset, value in zip(*(batch[name].to_pylist() for name in names), strict=True):
        found[source].values.setdefault(table, []).append((offset, value))


def _add_damage(found: Reading, each: smfparse.Damage) -> None:
    if each.reason.endswith("; skipped") and each.length is None and not each.offset:
        found.refused = each.reason
    else:
        in_record = each.record_no is not None
        found.damage.append(Damaged(each.offset, each.length, each.reason, in_record))
