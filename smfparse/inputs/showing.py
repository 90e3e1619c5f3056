"""Rows as shown, with local times in the requested zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smfparse.selecting import Zone, read_for, shown_in_zone
from smfparse.tables import Batch, Wanted, coded_schema


def shown(
    zone: Zone | None, wanted: Wanted, rows: Callable[[Wanted], Iterator[tuple[str, Batch]]]
) -> Iterator[tuple[str, Batch]]:
    """Yield the wanted rows with local times of a zone; None: as they are."""
    if zone is None:
        yield from rows(wanted)
        return
    read: Wanted = {
        table: None if names is None else read_for(coded_schema(table, names))
        for table, names in wanted.items()
    }
    for table, batch in rows(read):
        yield table, shown_in_zone(zone, batch, coded_schema(table, wanted[table]))
