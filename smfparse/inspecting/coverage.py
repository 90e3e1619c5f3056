"""Whether the inputs are complete: the calendar's answer for each queue manager of an inventory."""

from __future__ import annotations

from smfparse.calendar.coverage import Coverage, coverage_of, coverage_query
from smfparse.calendar.intervals import calendar_macros, calendar_query, calendars_of
from smfparse.inputs.opening import Inputs
from smfparse.inspecting.groups import Inventory
from smfparse.inspecting.losses import lost_records
from smfparse.metrics.views import named_macros, view_macros


def coverage_in(inputs: Inputs, found: Inventory) -> list[Coverage]:
    """Return how complete the data of each queue manager is; none where names are selected.

    Records of some jobs, queues or channels show no gaps.
    """
    from smfparse.query.catalog import Catalog

    selection = inputs.selection
    if selection.by_name:
        return []
    queries = [calendar_query(), coverage_query()]
    with Catalog(inputs) as catalog:
        catalog.define(named_macros(" ".join(queries), view_macros() + calendar_macros(selection)))
        intervals, figures = catalog.arrows(queries)
    return coverage_of(
        calendars_of(intervals, inputs.zone),
        figures,
        lost_records(found.losses),
        lambda *record: not selection.types or selection.has_type(*record),
        inputs.met.count,
    )
