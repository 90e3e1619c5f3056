"""What reports have to show, worked out by polars from the decoded tables.

A module has the reports of a family. Each report is a function that returns parts: rows of one kind
with the columns that tell them apart, and their figures. The expectations are written from IBM's
definitions of the fields and from what docs/reports.md promises, not from the SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from tests.support.recomputed import (
    accounting,
    api_cost,
    channels,
    statistics,
    streaming,
    volume,
)
from tests.support.recomputed.parts import Part

RECOMPUTED: Mapping[str, Callable[..., list[Part]]] = {
    **statistics.RECOMPUTED,
    **channels.RECOMPUTED,
    **accounting.RECOMPUTED,
    **api_cost.RECOMPUTED,
    **volume.RECOMPUTED,
    **streaming.RECOMPUTED,
}
"""Reports, and what returns their parts: of their name, tables and options."""
NOT_RECOMPUTED: Mapping[str, Set[str]] = {
    "streaming": {"note"},
}
"""Figures of reports that only samples show, all of them texts."""
