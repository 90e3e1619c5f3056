"""What planners say of queue managers, where SMF shows all that it can of their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.capacity import CapacityDocument, answer, measured_rows, measuring_query
from smfparse.dashboard.courses import Manager
from smfparse.dashboard.declaration import parts
from smfparse.errors import RequestError
from smfparse.planning import planner

if TYPE_CHECKING:
    from smfparse.query import Catalog
    from smfparse.rendering import Section


def plan_queries(catalog: Catalog) -> dict[str, str]:
    """Return the queries of what planners ask for, by the names that their rows get."""
    return {
        f"plan_{part.name}": measuring_query(catalog, planner(part.planner), {})
        for part in parts().values()
        if part.planner
    }


def held_plans(catalog: Catalog) -> dict[Manager, dict[str, list[Section]]]:
    """Return what the planners of parts say of each queue manager, by part.

    The rows of `plan_queries` are in the catalog.

    A planner is left out where it would use a published value for what SMF can show, and where
    what SMF shows is outside of its range.
    """
    found: dict[Manager, dict[str, list[Section]]] = {}
    for part in parts().values():
        if not part.planner:
            continue
        which = planner(part.planner)
        rows = catalog.connection.table(f"plan_{part.name}").to_arrow_table().to_pylist()
        try:
            several = [answer(which, {}, each) for each in measured_rows(which, rows)]
        except RequestError:
            continue
        for each in several:
            if each.of and each.of.qmgr and not each.missing and not each.of.refused:
                said = [*CapacityDocument(which, [each]).sections()]
                found.setdefault((each.of.system, each.of.qmgr), {})[part.name] = said
    return found
