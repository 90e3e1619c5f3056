"""What smfparse makes of files: many at once, as a folder, so that an input costs little."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import smfparse
from corruption.cases import Manner
from corruption.samples import KINDS
from smfparse.errors import Damage, InputError, OutputError
from smfparse.limits import Limits

COLUMNS = ("source", "record_offset", "length", "flags", "type")
SMALL_TABLES = {each.table: each.column for each in KINDS}
SMALL = Limits(chunk_bytes=1 << 16, max_spanned=1 << 16)


@dataclass(frozen=True)
class Row:
    """A row of the table `record`."""

    offset: int
    length: int
    flags: int
    type: int


@dataclass
class Reading:
    """What comes of a file.

    damage  that is not inside of a record; length None: all bytes behind
    values  by table: byte of the record, and number in the block
    """

    rows: list[Row] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
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
        _add(found, table, batch)
    for each in data.damage:
        if each.reason.endswith("; skipped") and each.length is None and not each.offset:
            found[each.source].refused = each.reason
        elif each.record_no is None:
            found[each.source].damage.append(each)
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


def _add(found: dict[str, Reading], table: str, batch: Any) -> None:
    names = COLUMNS if table == "record" else (*COLUMNS[:2], SMALL_TABLES.get(table))
    if names[-1]:
        for name, *cells in zip(*(batch[each].to_pylist() for each in names), strict=True):
            if table == "record":
                found[name].rows.append(Row(*cells))
            else:
                found[name].values.setdefault(table, []).append((cells[0], cells[1]))
