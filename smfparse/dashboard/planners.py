"""What planners say of queue managers, where SMF shows all that it can of their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.capacity import CapacityDocument, answers
from smfparse.dashboard.courses import Manager
from smfparse.dashboard.declaration import parts
from smfparse.errors import RequestError
from smfparse.planning import planner

if TYPE_CHECKING:
    from smfparse.query import Catalog
    from smfparse.rendering import Section


def held_plans(catalog: Catalog) -> dict[Manager, dict[str, list[Section]]]:
    """Return what the planners of parts say of each queue manager, by part.

    A planner is left out where it would use a published value for what SMF can show, and where
    what SMF shows is outside of its range.
    """
    found: dict[Manager, dict[str, list[Section]]] = {}
    for part in parts().values():
        if not part.planner:
            continue
        which = planner(part.planner)
        try:
            several = answers(which, {}, catalog)
        except RequestError:
            continue
        for each in several:
            if each.of and each.of.qmgr and not each.missing and not each.of.refused:
                said = [*CapacityDocument(which, [each]).sections()]
                found.setdefault((each.of.system, each.of.qmgr), {})[part.name] = said
    return found
