"""Detection tries no framing behind one that leaves no doubt: of many files it is the cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.reading import detection, look_at
from smfparse.reading.blocked import BdwWalk
from smfparse.reading.chunks import SLACK
from smfparse.reading.segments import Walk
from smfparse.reading.walks import WALKS
from tests.support.generated import generate_dump
from tests.support.searching import search
from tests.support.variants import BY_NAME, VARIANTS, read_rdw


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return read_rdw(generate_dump(tmp_path_factory.mktemp("dump") / "a.smf").read_bytes())


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Walk]:
    """Return the walks that detection tries."""
    walks: list[Walk] = []
    found = detection._found

    def noted(walk: Walk, *rest: Any) -> Any:
        walks.append(walk)
        return found(walk, *rest)

    monkeypatch.setattr(detection, "_found", noted)
    return walks


@given(data=st.data())
@search(40)
def test_the_faster_look_for_blocks_changes_no_framing(bodies: list[bytes], data: Any) -> None:
    kinds = st.sampled_from(["bdw", "rdw", "rdw-unspanned", "length"])
    some = slice(data.draw(st.integers(0, 40)), data.draw(st.integers(41, 200)))
    joined = b"".join(
        BY_NAME[each].write(bodies[some]).data[data.draw(st.sampled_from([0, 0, 4, 8, 50])) :]
        for each in data.draw(st.lists(kinds, min_size=1, max_size=3))
    )
    wrong = bytearray(joined[: data.draw(st.integers(200, len(joined)))])
    for place in data.draw(st.lists(st.integers(0, 199), max_size=2)):
        wrong[place] = data.draw(st.integers(0, 255))
    found = []
    for look in (BdwWalk.may_show, Walk.may_show):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BdwWalk, "may_show", look)
            buffer = np.frombuffer(bytes(4) + wrong + bytes(SLACK), np.uint8).copy()
            found.append(detection.detect(buffer, 4, 4 + len(wrong), True))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", [each.name for each in VARIANTS if WALKS[each.framing].chained])
def test_no_walk_is_tried_behind_the_right_one(
    name: str, bodies: list[bytes], tried: list[Walk], tmp_path: Path
) -> None:
    path = tmp_path / "a.smf"
    path.write_bytes(BY_NAME[name].write(bodies).data)
    _, framing = look_at(path)
    assert framing.name == BY_NAME[name].framing
    every = list(WALKS.values())
    assert tried == every[: every.index(framing.walk) + 1]


@pytest.mark.parametrize("records", [2, 20])
def test_a_file_of_few_records_that_are_all_of_it_leaves_no_doubt(
    records: int, bodies: list[bytes], tried: list[Walk], tmp_path: Path
) -> None:
    path = tmp_path / "a.smf"
    path.write_bytes(BY_NAME["rdw"].write(bodies[:records]).data)
    assert look_at(path)[1].name == "rdw"
    assert tried == list(WALKS.values())[:2]


def _longer(data: bytes) -> bytes:
    """Return the records, most of which say less than their length."""
    at, wrong = 0, bytearray()
    while at < len(data):
        size = int.from_bytes(data[at : at + 2], "big")
        wrong += (size + 3).to_bytes(2, "big") + data[at + 2 : at + size] + bytes(3)
        at += size
    return bytes(wrong)


@pytest.mark.parametrize(
    "made",
    [lambda data: data[:-1], lambda data: data + bytes(range(1, 60)), _longer],
    ids=["cut", "followed", "longer"],
)
def test_all_walks_are_tried_where_few_records_leave_a_doubt(
    made: Callable[[bytes], bytes], bodies: list[bytes], tried: list[Walk], tmp_path: Path
) -> None:
    path = tmp_path / "a.smf"
    path.write_bytes(made(BY_NAME["rdw-unspanned"].write(bodies[:20]).data))
    assert look_at(path)[1].name == "rdw"
    assert len(tried) >= len(WALKS)
