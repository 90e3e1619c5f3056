"""The time that rates of class 3 are divided by, the same whatever names are selected.

A report that has such rates reads two relations of its own:

    sectioned.covered     one row per section: `section`, and `seconds` that rows of class 3 cover
    sectioned.statistics  the intervals of statistics; where rows are sliced, of all slices

Statistics name no queue, and class 3 of one queue does not show when the others were used. So where
rows are selected by job, queue or channel, both come from the inputs with all of these, and the
catalog holds them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smfparse.reports.marks import STATISTICS, STATISTICS_OF_ALL
from smfparse.reports.sections import OF_STATISTICS

if TYPE_CHECKING:
    from smfparse.inputs import Inputs
    from smfparse.query import Catalog, Connection
    from smfparse.reports.declaration import Report

_COVERED, _STATISTICS = "sectioned.covered", "sectioned.statistics"
_COVERED_OF_ALL = "covered_of_all"
"""The table of the rows of `sectioned.covered`, where a catalog holds them."""
TIME_QUERIES = {
    _COVERED_OF_ALL: f"FROM covered_seconds('sectioned.wqst', 'sectioned.{STATISTICS}')",
    STATISTICS_OF_ALL: f"SELECT {OF_STATISTICS} FROM sectioned.{STATISTICS}",
}
"""What a catalog has to hold of all names, by table."""


def divides_by_time(which: Report) -> bool:
    """Whether a report has rates of class 3."""
    return _COVERED in which.sql


def with_time(which: Report, *, held: bool, sliced: bool = False) -> Report:
    """Return a report whose SQL reads the covered time where it is.

    held    whether the catalog holds what TIME_QUERIES give
    sliced  whether the tables have the rows of some sections only
    """
    statistics = STATISTICS_OF_ALL if held or sliced else f"sectioned.{STATISTICS}"
    covered = _COVERED_OF_ALL if held else f"covered_seconds('sectioned.wqst', '{statistics}')"
    sql = which.sql.replace(_COVERED, covered).replace(_STATISTICS, statistics)
    return replace(which, sql=sql)


def catalog_of_all(inputs: Inputs) -> Catalog | None:
    """Return a catalog of the same inputs with all names; None: they have all."""
    from smfparse.inputs import with_all_names
    from smfparse.query import Catalog

    return Catalog(with_all_names(inputs)) if inputs.selection.by_name else None


def hold_time(every: Catalog, connection: Connection) -> None:
    """Have a connection hold the time of all names.

    every  what `catalog_of_all` returns, with the views of the report
    """
    found = every.arrows([*TIME_QUERIES.values()])
    for name, rows in zip(TIME_QUERIES, found, strict=True):
        connection.register("time_of_all", rows)
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM time_of_all")
        connection.unregister("time_of_all")
