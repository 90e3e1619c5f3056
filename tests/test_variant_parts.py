"""A file of any variant that can be cut into parts: the parts together are the whole."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from smfparse.framing import WHOLE_SOURCE, plan
from tests.reading import Reading
from tests.variants import BY_NAME, VARIANTS, Variant, Written, flipped, read_rdw, with_garbage

FIXTURES = sorted((Path(__file__).resolve().parents[1] / "fixtures").glob("*.smf"))
TIMES = 28
"""So often the first fixture makes a file of several parts: a chunk is never below 2 MB."""
CHUNK_BYTES = 2 << 20
PARTS = (1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1)
SPLITTABLE = [each for each in VARIANTS if each.framing != "ftp-record"]
"""The records of FTP record structure have no lengths by which to go from one to the next."""
splittable_variant = pytest.mark.parametrize("variant", SPLITTABLE, ids=lambda each: each.name)


@cache
def bodies() -> list[bytes]:
    return read_rdw(FIXTURES[0].read_bytes()) * TIMES


def write(folder: Path, data: bytes) -> Path:
    path = folder / "input"
    path.write_bytes(data)
    return path


def assert_parts_are_the_whole(path: Path, part_bytes: int) -> int:
    """Read a file by parts and as one; return how many parts there were."""
    whole = Reading(path, chunk_bytes=CHUNK_BYTES)
    parts = plan(path, part_bytes, CHUNK_BYTES)
    found = [Reading(path, part, CHUNK_BYTES) for part in parts]
    assert [each.refused for each in found] == [None] * len(parts)
    assert [body for each in found for body in each.bodies] == whole.bodies
    assert [number for each in found for number in each.numbers] == whole.numbers
    assert [offset for each in found for offset in each.offsets] == whole.offsets
    assert [damage for each in found for damage in each.damage] == whole.damage
    for part, each in zip(parts, found, strict=True):
        assert part.records in (None, len(each.bodies))
    return len(parts)


@splittable_variant
def test_parts_together_are_the_whole(tmp_path: Path, variant: Variant) -> None:
    path = write(tmp_path, variant.write(bodies()).data)
    assert Reading(path, chunk_bytes=CHUNK_BYTES).bodies == bodies()
    counts = [assert_parts_are_the_whole(path, part_bytes) for part_bytes in PARTS]
    assert counts[0] > counts[-1] > 1


@splittable_variant
@pytest.mark.parametrize("where", [0.01, 0.5, 0.99])
def test_parts_of_a_damaged_file_are_the_whole(
    tmp_path: Path, variant: Variant, where: float
) -> None:
    file = variant.write(bodies())
    number = int(where * len(file.spans))
    for data in (flipped(file, number, b"\xff"), with_garbage(file, number, b"?" * 99)):
        path = write(tmp_path, data)
        assert_parts_are_the_whole(path, CHUNK_BYTES)
        path.unlink()


@pytest.mark.parametrize("name", ["ftp-record", "ftp-record-eof", "ftp-record-both"])
def test_ftp_record_structure_has_as_many_parts_as_it_may(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, BY_NAME[name].write(bodies()).data)
    assert Reading(path, chunk_bytes=CHUNK_BYTES).bodies == bodies()
    assert_parts_are_the_whole(path, 1)


def test_a_small_file_is_one_part(tmp_path: Path) -> None:
    for variant in SPLITTABLE:
        file: Written = variant.write(bodies()[:50])
        assert plan(write(tmp_path, file.data), CHUNK_BYTES) == [WHOLE_SOURCE]
