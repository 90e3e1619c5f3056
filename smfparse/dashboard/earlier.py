"""An earlier time beside the one of a page: its courses, and what calls cost before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from smfparse.comparing import TOLERANCE, ComparisonDocument, compared, measured
from smfparse.dashboard.declaration import panels
from smfparse.dashboard.gathering import Day, gathered_panels
from smfparse.query import Catalog

if TYPE_CHECKING:
    from smfparse.inputs import Inputs


class Earlier(NamedTuple):
    """An earlier time.

    days     its courses by queue manager
    changes  what calls cost then, and in the time of the page
    """

    days: Sequence[Day]
    changes: ComparisonDocument


def against(before: Inputs, after: Inputs) -> Earlier:
    """Return what the inputs of an earlier time show, against those of a page.

    SMF files of `before` are read twice more, those of `after` once more.
    """
    with Catalog(before) as catalog:
        days = gathered_panels(catalog, [*panels().values()])
    first, second = measured(before), measured(after)
    return Earlier(days, ComparisonDocument(compared(first, second), first, second, TOLERANCE))
