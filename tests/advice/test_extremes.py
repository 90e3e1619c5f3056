"""Rules over inputs without rows, with the largest numbers, and with damage that is drawn."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from smfparse.advice.declaration import rules, subjects
from smfparse.advice.judging import subject_query
from smfparse.decoding.arrow import schema
from smfparse.metrics.calendar import calendar_macros
from smfparse.metrics.views import named_macros
from smfparse.simulating.reading_toml import read_estate
from smfparse.simulating.run import simulate
from tests.simulating.drawn import sites
from tests.support.advised import Bench, Rows, checked
from tests.support.command import run
from tests.support.searching import search

KEYS = {"input_no", "utc_offset", "record_no", "block_no", "task_record_no", "record_offset"}
LONGEST_US = 2.0**52
"""The clock of a record counts no further."""
DAMAGED, UNUSABLE = 4, 8
_PLACES = st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8))
"""Where bytes are written over others, as a share of the file, and the bytes."""


def subject_rows(name: str, rows: Rows) -> Any:
    """Return the rows of a subject over tables, with the states of all its rules."""
    subject = subjects()[name]
    some = [each for each in rules().values() if each.subject == name and each.complete]
    query = subject_query(subject, some)
    bench = Bench(rows, subject.tables)
    bench.define(named_macros(query, calendar_macros()))
    return bench.arrow(query)


@pytest.mark.slow
def test_a_subject_without_rows_has_none_and_no_number_is_too_large_for_a_rule() -> None:
    """Damaged records hold any number."""
    assert {name for name in subjects() if subject_rows(name, {}).num_rows} == set()
    for name, subject in subjects().items():
        rows = {table: [*_extreme_rows(table)] for table in subject.tables}
        assert "start" in subject_rows(name, rows).column_names, name


def test_a_share_of_nothing_is_not_shown() -> None:
    """61 log reads of no log writes are no percentage."""
    reads = {"qjstrbuf": 61, "qjstwrnw": 0}
    found = checked({"qjst": [reads | {"qjstwrnw": 999}, reads | {"system": "NONE"}]})
    assert [each.system for each in found.seen_once if each.rule == "LOG-BACKOUT"] == ["SYSA"]


def _extreme_rows(table: str) -> Iterator[dict[str, Any]]:
    """Yield rows of intervals in which all numbers are the smallest, or the largest, possible."""
    for number, place in enumerate((0, 1, 1)):
        limits = ((each.name, _limits(each.type)) for each in schema(table))
        fields = {name: both[place] for name, both in limits if both and name not in KEYS}
        yield fields | {"interval_no": number, "interval_seconds": 1e-6 if place else 600.0}


def _limits(kind: Any) -> tuple[float, float] | None:
    """Return the smallest and the largest number of a type; None: it has no numbers."""
    if pa.types.is_floating(kind):
        return -LONGEST_US, LONGEST_US
    if not pa.types.is_integer(kind):
        return None
    limits = np.iinfo(kind.to_pandas_dtype())
    return int(limits.min), int(limits.max)


@given(site=sites(), seed=st.integers(0, 1000), harm=st.lists(_PLACES, max_size=12))
@search(2)
def test_any_input_is_judged_or_its_damage_is_reported(
    site: dict[str, Any], seed: int, harm: Sequence[tuple[float, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.smf"
        simulate(path, read_estate("site", site), seed)
        path.write_bytes(_harmed(path.read_bytes(), harm))
        for command in ("check", "summary"):
            with pytest.MonkeyPatch.context() as patch:
                if command == "summary":  # its findings are those of check
                    patch.setattr("smfparse.advice.running.wanted", lambda limits: {})
                result = run(command, path, "--format", "json")
            event(f"exit code {result.exit_code}")
            assert result.exit_code in ((0, DAMAGED, UNUSABLE) if harm else (0,))
            if result.exit_code == UNUSABLE:
                assert result.stdout == ""
                continue
            assert not {"NaN", "Infinity"} & {*result.stdout.split()}
            for each in _findings(json.loads(result.stdout)):
                assert each["severity"] in range(1, 6)
                assert 0 <= each.get("share", 0) <= 1
                assert each.get("crossed", 0) <= each.get("evaluated", math.inf)
                assert each.get("start", "") <= each.get("end", "")


def _harmed(data: bytes, harm: Sequence[tuple[float, bytes]]) -> bytes:
    harmed = bytearray(data)
    for share, some in harm:
        at = int(share * (len(harmed) - len(some)))
        harmed[at : at + len(some)] = some
    return bytes(harmed)


def _findings(found: Any) -> Iterator[dict[str, Any]]:
    """Yield all findings, those under others as well."""
    if isinstance(found, dict) and "rule" in found and "severity" in found:
        yield found
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for each in parts:
        yield from _findings(each)
