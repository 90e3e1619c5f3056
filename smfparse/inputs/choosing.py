"""Files of a dataset that can contain selected rows: other files are not opened."""

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
    """Return the manifest of a dataset, limited to the files that can contain selected rows.

    The entry `is_whole` is true if these are all files. If names are selected, files are not chosen
    by day, because names are searched in all records of a task, of any day.

    Raises InputError if the manifest is missing or damaged.
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
    """Return the first and last selected day; None: any day."""
    if selection.time_column != COUNTED_AT or selection.by_name:
        return None
    start, end = selection.start or dt.datetime.min, selection.end or dt.datetime.max
    return start.date().isoformat(), end.date().isoformat()


def _can_have(name: str, names: re.Pattern[str] | None) -> bool:
    """Whether a file can contain rows of queue managers that match `names`; None: all match."""
    qmgr = qmgr_name(name)
    return names is None or qmgr is None or names.fullmatch(qmgr) is not None
