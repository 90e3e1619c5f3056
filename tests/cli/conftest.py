"""What takes most of the time that a small file needs is done once, or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from smfparse import comparing
from smfparse.advice import Checked
from smfparse.cli import check
from smfparse.inputs import Inputs
from smfparse.query import Catalog


@pytest.fixture(scope="module")
def worked_out_once() -> Iterator[None]:
    """Let `check` and `compare` work out once what they are asked for again in the same words.

    Inputs that are damaged or hold duplicates are read each time, for what is to report on them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "_checked", _remembered(check._checked))
        patch.setattr(comparing, "measured", _remembered(comparing.measured))
        yield


def _remembered(work_out: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def remembered(opened: Inputs, *others: Any) -> Any:
        states = [(each.path, each.path.stat().st_mtime_ns) for each in opened.sources]
        asked = repr((states, opened.options, others))
        found = known.get(asked)
        if found is None:
            found = work_out(opened, *others)
            if not opened.damage and not opened.duplicates:
                known[asked] = found
        return found

    return remembered


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let summaries find nothing wrong."""

    def no_rules(catalog: Catalog, also: Mapping[str, str]) -> Checked:
        for name, table in zip(also, catalog.arrows([*also.values()]), strict=True):
            catalog.connection.register(name, table)
        return Checked()

    monkeypatch.setattr("smfparse.summarizing.running.run_rules", no_rules)
