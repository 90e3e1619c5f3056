"""Which files of a dataset can have rows that are selected: the others are not opened."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from smfparse.places import Place
from smfparse.selecting import COUNTED_AT, Selection, like
from smfparse.store import Manifest, meets_span, qmgr_name, read_manifest


def manifest_for(folder: Place, selection: Selection) -> Manifest:
    """Return the manifest of a dataset, with those of its files that can have selected rows.

    `is_whole` in it says whether these are all files. Rows are chosen by day where no names are
    asked for: these are looked for in all records of a task, whenever they were written.

    Raises InputError where it cannot be understood.
    """
    span = _span(selection)
    names = like(selection.qmgrs) if selection.qmgrs else None
    if span is None and names is None:
        return read_manifest(folder) | {"is_whole": True}
    found = read_manifest(folder, lambda part: part["damaged"] or meets_span(part["days"], span))
    files = {
        table: [each for each in some if _can_have(found, each, span, names)]
        for table, some in found["files"].items()
    }
    return found | {"files": files, "is_whole": False}


def _span(selection: Selection) -> tuple[str, str] | None:
    """Return the first and last day that are selected; None: any day."""
    if selection.time_column != COUNTED_AT or selection.by_name:
        return None
    start, end = selection.start or dt.datetime.min, selection.end or dt.datetime.max
    return start.date().isoformat(), end.date().isoformat()


def _can_have(
    manifest: Manifest,
    name: str,
    span: Sequence[str] | None,
    names: re.Pattern[str] | None,
) -> bool:
    """Whether a file can have rows of these days and queue managers."""
    _, *days = manifest["rows"][name]
    qmgr = qmgr_name(name)
    is_named = names is None or qmgr is None or names.fullmatch(qmgr) is not None
    return is_named and meets_span(days, span)
