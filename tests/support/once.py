"""What takes most of the time that a small file needs is done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from smfparse import advice, comparing, reports, summarizing
from smfparse.cli import check
from smfparse.inputs import Inputs
from smfparse.query import Catalog
from smfparse.reports import Report


@pytest.fixture(scope="module")
def worked_out_once() -> Iterator[None]:
    """Let commands work out once what they are asked for again in the same words.

    Inputs that are damaged or hold duplicates are read each time, for what is to report on them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "_checked", _remembered(check._checked))
        patch.setattr(comparing, "measured", _remembered(comparing.measured))
        patch.setattr(summarizing, "summarized", _remembered(summarizing.summarized))
        patch.setattr(advice, "answered_rows", _remembered_rows(advice.answered_rows))
        yield


def _remembered(work_out: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def remembered(source: Inputs | Catalog, *others: Any) -> Any:
        inputs = source._relations.scans.inputs if isinstance(source, Catalog) else source
        states = [(each.path, each.path.stat().st_mtime_ns) for each in inputs.sources]
        asked = repr((states, inputs.options, others))
        found = known.get(asked) if states else None
        if found is None:
            found = work_out(source, *others)
            if not inputs.damage and not inputs.duplicates:
                known[asked] = found
        return found

    return remembered


def _remembered_rows(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the rows of a report, which come one by one."""

    def listed(catalog: Catalog, name: str, others: Any, asked: dict[str, Any]) -> Any:
        return list(run(reports.report(name), catalog, *others, **asked))

    all_rows = _remembered(listed)

    def rows(which: Report, catalog: Catalog, *others: Any, **asked: Any) -> Iterator[Any]:
        yield from map(dict, all_rows(catalog, which.name, others, asked))

    return rows
