"""Records that SMF lost, from SMF records of type 7."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from smfparse.schemas import SMF7
from smfparse.tables.arrow import Batch

LOST = SMF7.name.lower()
"""The table of type 7 records."""
LOST_COLUMNS = frozenset({"system", "smf_time", "smf7nro", "smf7stm", "smf7nrf", "smf7nrox"})


@dataclass(frozen=True)
class Loss:
    """SMF records that a system lost: start and end (local time), number; None: value unknown."""

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
    """Yield the losses in rows with LOST_COLUMNS."""
    for row in batch.select(sorted(LOST_COLUMNS)).to_pylist():
        records = row["smf7nrox"] if row["smf7nrf"] else row["smf7nro"]
        yield Loss(row["system"], row["smf7stm"], row["smf_time"], records)
