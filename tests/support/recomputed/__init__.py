"""Two reports with many options, worked out from the decoded tables in another way.

Each is a function that returns parts: rows of one kind with the columns that tell them apart, and
their figures. They are written from IBM's definitions of the fields and from what docs/reports.md
promises, not from the SQL. Of other reports tests/golden has the rows that such recomputations
agreed with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.support.recomputed.api_cost import api_cost
from tests.support.recomputed.parts import Part
from tests.support.recomputed.volume import smf_volume

RECOMPUTED: Mapping[str, Callable[..., list[Part]]] = {
    "api-cost": api_cost,
    "smf-volume": smf_volume,
}
"""Reports, and what returns their parts: of their name, tables and options."""
