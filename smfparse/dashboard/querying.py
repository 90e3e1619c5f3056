"""The queries of a page: one for the rows of all panels, others for flows and for what SMF held."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from smfparse.dashboard.declaration import Panel, definition, panels
from smfparse.metrics import words_in

ROWS, FLOWS, HELD, GROUPS = (f"dashboard_{each}" for each in ("rows", "flows", "held", "groups"))
"""The names by which a catalog holds the rows of the queries."""
_NONE = "SELECT NULL::DOUBLE AS per WHERE FALSE"
"""No row, but the column that only averages have."""
_COMMON = re.compile(r"^(\w+) AS MATERIALIZED", re.M)


def queries(some: Collection[Panel] | None = None) -> dict[str, str]:
    """Return the queries of a page, or of some panels alone, by the names of their rows."""
    if some is not None:
        return {ROWS: _rows_query(some)}
    return {
        ROWS: _rows_query(panels().values()),
        FLOWS: definition("common.sql") + definition("flow.sql"),
        HELD: definition("held.sql"),
        GROUPS: definition("groups.sql"),
    }


def panel_sql(panel: Panel) -> str:
    """Return the query for the rows of a panel, as a user can run it."""
    return _common_of([panel]) + panel.sql.strip()


def _common_of(some: Iterable[Panel]) -> str:
    """Return what panels share, if one of them uses it."""
    common = definition("common.sql")
    named = words_in(" ".join(each.sql for each in some))
    return common if named.intersection(_COMMON.findall(common)) else ""


def _rows_query(some: Collection[Panel]) -> str:
    several = (f"SELECT '{each.name}' AS panel, * FROM ({each.sql})" for each in some)
    return (
        f"{_common_of(some)}"
        "SELECT panel, coalesce(system, '') AS system, coalesce(qmgr, '') AS qmgr, "
        "coalesce(object, '') AS object, epoch_us(start) AS start, "
        "coalesce(seconds::DOUBLE, 0) AS seconds, amount::DOUBLE AS amount, per::DOUBLE AS per "
        f"FROM ({' UNION ALL BY NAME '.join([*several, _NONE])}) "
        "WHERE start IS NOT NULL AND isfinite(amount::DOUBLE)"
    )
