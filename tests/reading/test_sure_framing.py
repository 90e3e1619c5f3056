"""Detection tries no framing behind one that leaves no doubt: of many files it is the cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse.reading import detection, look_at
from smfparse.reading.segments import Walk
from smfparse.reading.walks import WALKS
from tests.support.generated import generate_dump
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


def test_all_walks_are_tried_where_few_records_say_how_long_they_are(
    bodies: list[bytes], tried: list[Walk], tmp_path: Path
) -> None:
    path = tmp_path / "a.smf"
    path.write_bytes(BY_NAME["rdw"].write(bodies[:20]).data)
    assert look_at(path)[1].name == "rdw"
    assert len(tried) >= len(WALKS)
