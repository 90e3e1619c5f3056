"""Which files of a dataset can have rows that are selected: the others are not opened."""

from __future__ import annotations

import datetime as dt
import re

from smfparse.places.kinds import Place
from smfparse.selecting.counting import COUNTED_AT
from smfparse.selecting.criteria import like
from smfparse.selecting.selection import Selection
from smfparse.store.hive import qmgr_name
from smfparse.store.manifest import Manifest, read_files


def manifest_for(folder: Place, selection: Selection) -> Manifest:
    """Return the manifest of a dataset, with those of its files that can have selected rows.

    `is_whole` in it says whether these are all files. Files are chosen by day only without selected
    names, because names are compared in all records of a task, whenever they were written.

    Raises InputError where it cannot be understood.
    """
    span = _span(selection)
    names = like(selection.qmgrs) if selection.qmgrs else None
    found = read_files(folder, span)
    files = {
        table: [each for each in some if _can_have(each, names)]
        for table, some in found["files"].items()
    }
    return found | {"files": files, "is_whole": span is None and names is None}


def _span(selection: Selection) -> tuple[str, str] | None:
    """Return the first and last day that are selected; None: any day."""
    if selection.time_column != COUNTED_AT or selection.by_name:
        return None
    start, end = selection.start or dt.datetime.min, selection.end or dt.datetime.max
    return start.date().isoformat(), end.date().isoformat()


def _can_have(name: str, names: re.Pattern[str] | None) -> bool:
    """Whether a file can have rows of these queue managers."""
    qmgr = qmgr_name(name)
    return names is None or qmgr is None or names.fullmatch(qmgr) is not None
