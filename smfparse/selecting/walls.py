"""The local times of rows in a zone that a user names, in place of those of their system.

Columns of moments without a zone are local times of the system: `smf_time`, `counted_at`, and some
of control blocks. Each becomes a moment by the `utc_offset` of its row, and local again by the
zone; `utc_offset` itself is then that of the SMF time. Of rows without it no local time is known,
so they have none, and none is selected by time. There are two ways to one result: arrays, and SQL
for the rows of a dataset in DuckDB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.layout import US_PER_SECOND
from smfparse.selecting.zones import Zone
from smfparse.vectors import Bools, Ints

OFFSET = "utc_offset"
_SMF_TIME = "smf_time"


def in_zone(zone: Zone, time: Ints, known: Bools, offset: Ints, local: Bools) -> tuple[Ints, Bools]:
    """Return times of systems as local times of a zone, and where they are known.

    time, known    int64, bool (rows,): microseconds since 1970, local time of their system
    offset, local  int64, bool (rows,): seconds that this is ahead of UTC
    """
    moments = time - offset * US_PER_SECOND
    return moments + zone.each_offset(moments) * US_PER_SECOND, known & local


def local_columns(schema: Any) -> list[str]:
    """Return the columns that a zone changes: local times, and how far they are ahead of UTC."""
    return [each.name for each in schema if each.name == OFFSET or _is_local(each.type)]


def _is_local(kind: Any) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is None


def read_for(schema: Any) -> frozenset[str]:
    """Return the columns that rows have to have, for `shown_in_zone` to show those of a schema."""
    also = (OFFSET, _SMF_TIME) if local_columns(schema) else ()
    return frozenset((*schema.names, *also))


def shown_in_zone(zone: Zone, batch: Any, schema: Any) -> Any:
    """Return the columns of a schema of rows, local times in a zone.

    batch  with the columns `read_for`
    """
    changed = local_columns(schema)
    if not changed:
        return batch.select(schema.names)
    shown = [
        _shown(zone, batch, name) if name in changed else batch.column(name)
        for name in schema.names
    ]
    return pa.RecordBatch.from_arrays(shown, schema=schema)


def _shown(zone: Zone, batch: Any, name: str) -> Any:
    offset, local = _numbers(batch, OFFSET)
    time, known = _numbers(batch, _SMF_TIME if name == OFFSET else name)
    found, known = in_zone(zone, time, known, offset, local)
    if name == OFFSET:
        found = (found - time) // US_PER_SECOND + offset
    return pa.array(found, pa.int64(), mask=~known).cast(batch.column(name).type, safe=False)


def _numbers(batch: Any, name: str) -> tuple[Ints, Bools]:
    """Return a column as int64, and where it is known."""
    column = batch.column(name)
    known: Bools = column.is_valid().to_numpy(zero_copy_only=False)
    found: Ints = column.cast(pa.int64()).fill_null(0).to_numpy()
    return found.astype(np.int64), known


def shown_sql(zone: Zone, name: str) -> str:
    """Return a column that a zone changes as SQL over those of the system."""
    time = _SMF_TIME if name == OFFSET else name
    moment = f"(epoch_us({time}) - {OFFSET}::BIGINT * {US_PER_SECOND})"
    offset = zone.sql(moment)
    if name == OFFSET:
        return f"{offset}::INTEGER"
    return f"make_timestamp({moment} + {offset}::BIGINT * {US_PER_SECOND})"
