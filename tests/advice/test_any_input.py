"""`check` and `summary` of sites that nobody thought of, sound and damaged: documented endings."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from smfparse.simulating import read_estate, simulate
from tests.simulating.test_random_sites import sites
from tests.support.command import run
from tests.support.searching import search

DAMAGED, UNUSABLE = 4, 8
_PLACES = st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8))
"""Where bytes are written over others, as a share of the file, and the bytes."""


@given(site=sites(), seed=st.integers(0, 1000), harm=st.lists(_PLACES, max_size=12))
@search(2)
def test_any_input_is_judged_or_its_damage_is_said(
    site: dict[str, Any], seed: int, harm: Sequence[tuple[float, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.smf"
        simulate(path, read_estate("site", site), seed)
        path.write_bytes(_harmed(path.read_bytes(), harm))
        for command in ("check", "summary"):
            result = run(command, path, "--format", "json")
            event(f"exit code {result.exit_code}")
            assert result.exit_code in ((0, DAMAGED, UNUSABLE) if harm else (0,))
            if result.exit_code == UNUSABLE:
                assert result.stdout == ""
                continue
            found = json.loads(result.stdout, parse_constant=_refused)
            _judge_findings([*_findings(found)])


def _harmed(data: bytes, harm: Sequence[tuple[float, bytes]]) -> bytes:
    harmed = bytearray(data)
    for share, some in harm:
        at = int(share * (len(harmed) - len(some)))
        harmed[at : at + len(some)] = some
    return bytes(harmed)


def _refused(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def _findings(found: Any) -> Iterator[dict[str, Any]]:
    """Yield all findings, those under others as well."""
    if isinstance(found, list):
        for each in found:
            yield from _findings(each)
    elif isinstance(found, dict):
        if "rule" in found and "class" in found:
            yield found
        for each in found.values():
            yield from _findings(each)


def _judge_findings(found: Sequence[dict[str, Any]]) -> None:
    for each in found:
        assert each["class"] in range(1, 6)
        assert 0 <= each.get("share", 0) <= 1
        assert each.get("crossed", 0) <= each.get("evaluated", math.inf)
        assert each.get("start", "") <= each.get("end", "")
