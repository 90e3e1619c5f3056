"""A file of any variant that can be cut into parts: the parts together are the whole.

Blind parts, and the rows of parts, are in tests/inputs/test_any_parts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import smfparse
from smfparse.errors import SmfError
from smfparse.limits import Limits
from smfparse.reading import WHOLE_SOURCE, Part, plan
from tests.support.paths import FIXTURE_FILES
from tests.support.reading import Reading
from tests.support.searching import of_many, pairs
from tests.support.variants import (
    BY_NAME,
    VARIANTS,
    Variant,
    Written,
    flipped,
    read_rdw,
    with_garbage,
)

pytestmark = pytest.mark.slow

TIMES = 28
"""So often the first fixture makes a file of several parts: a chunk is never below 2 MB."""
CHUNK_BYTES = 2 << 20
LIMITS = Limits(chunk_bytes=CHUNK_BYTES)
PARTS = (1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1)
SPLITTABLE = [each for each in VARIANTS if each.framing != "ftp-record"]
"""The records of FTP record structure have no lengths by which to go from one to the next."""
SOME = pairs(SPLITTABLE, ["not damaged", "first", "middle", "last"])


@cache
def bodies() -> list[bytes]:
    return read_rdw(FIXTURE_FILES[0].read_bytes()) * TIMES


def write(folder: Path, data: bytes) -> Path:
    path = folder / "input"
    path.write_bytes(data)
    return path


def assert_parts_are_the_whole(path: Path, part_bytes: int) -> int:
    """Read a file by parts and as one; return how many parts there were."""
    whole = Reading(path, limits=LIMITS)
    parts = plan(path, part_bytes, limits=LIMITS)
    found = [Reading(path, part, LIMITS) for part in parts]
    assert [each.refused for each in found] == [None] * len(parts)
    assert [body for each in found for body in each.bodies] == whole.bodies
    assert [number for each in found for number in each.numbers] == whole.numbers
    assert [offset for each in found for offset in each.offsets] == whole.offsets
    assert [damage for each in found for damage in each.damage] == whole.damage
    for part, each in zip(parts, found, strict=True):
        assert part.records in (None, len(each.bodies))
    return len(parts)


DAMAGED: dict[str, Callable[[Written], bytes]] = {
    "not damaged": lambda file: file.data,
    "first": lambda file: flipped(file, len(file.spans) // 100, b"\xff"),
    "middle": lambda file: with_garbage(file, len(file.spans) // 2, b"?" * 99),
    "last": lambda file: flipped(file, len(file.spans) * 99 // 100, b"\xff"),
}


@of_many("variant, where", SOME, ids=lambda each: getattr(each, "name", None))
def test_parts_together_are_the_whole(tmp_path: Path, variant: Variant, where: str) -> None:
    """Also of a damaged file."""
    path = write(tmp_path, DAMAGED[where](variant.write(bodies())))
    assert_parts_are_the_whole(path, CHUNK_BYTES)


@pytest.mark.parametrize("name", ["rdw", "bdw-null", "none", "ftp-block-short"])
def test_a_file_is_cut_into_as_many_parts_as_it_may(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, BY_NAME[name].write(bodies()).data)
    assert Reading(path, limits=LIMITS).bodies == bodies()
    counts = [assert_parts_are_the_whole(path, part_bytes) for part_bytes in PARTS]
    assert counts[0] > counts[-1] > 1


def test_ftp_record_structure_has_as_many_parts_as_it_may(tmp_path: Path) -> None:
    """And is not read from the middle."""
    path = write(tmp_path, BY_NAME["ftp-record"].write(bodies()).data)
    assert Reading(path, limits=LIMITS).bodies == bodies()
    assert_parts_are_the_whole(path, 1)
    with pytest.raises(SmfError, match="ftp-record must be read from its start"):
        list(smfparse.decode_part(path, Part(100, 2000, None)))


def test_a_small_file_is_one_part(tmp_path: Path) -> None:
    for variant in SPLITTABLE:
        file: Written = variant.write(bodies()[:50])
        assert plan(write(tmp_path, file.data), CHUNK_BYTES) == [WHOLE_SOURCE]


def test_a_part_that_is_not_as_planned_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, BY_NAME["rdw"].write(bodies()).data)
    first, *_ = smfparse.plan(path, 1, limits=LIMITS)
    path.write_bytes(flipped(BY_NAME["rdw"].write(bodies()), 3, b"\xff"))
    with pytest.raises(SmfError, match="not as planned"):
        list(smfparse.decode_part(path, first))
