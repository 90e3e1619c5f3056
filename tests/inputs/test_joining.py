"""Small files that are decoded together give what they give one after the other, in that order."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from smfparse.decoding import Decoder
from smfparse.inputs import ReadOptions, joining, open_inputs
from smfparse.limits import LIMITS, Limits
from smfparse.reading import Chunk
from smfparse.selecting import ALL_RECORDS, Selection
from smfparse.tables import decoded_tables
from tests.inputs.test_ranges import ALTERATIONS, Found, bad_headers, found_in
from tests.support.builders import foreign_record
from tests.support.mixed_records import many, written
from tests.support.paths import FIXTURE_FILES
from tests.support.searching import of_many, some
from tests.support.variants import BY_NAME

ANYWHERE = [each for each in ALTERATIONS if each is not bad_headers]
"""What can be done to any file."""
DECODED = dict.fromkeys(decoded_tables())


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each chunk that was decoded is of."""
    counts: list[int] = []
    add = Decoder._add

    def counted(decoder: Decoder, chunk: Chunk) -> None:
        counts.append(max(1, len(chunk.sources)))
        add(decoder, chunk)

    monkeypatch.setattr(Decoder, "_add", counted)
    return counts


def ways(paths: Sequence[Path], selection: Selection = ALL_RECORDS) -> tuple[Found, Found]:
    """Return what files give that are decoded together, and one after the other."""
    together = found_in(paths, 1, DECODED, selection)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "_SMALL", LIMITS.chunk_bytes)
        return together, found_in(paths, 1, DECODED, selection)


def put(folder: Path, *data: bytes) -> list[Path]:
    paths = [folder / f"{number:02}.smf" for number in range(len(data))]
    for path, each in zip(paths, data, strict=True):
        path.write_bytes(each)
    return paths


@of_many("seed", some(range(12), 2))
def test_files_with_all_that_may_be_wrong_give_the_same(
    seed: int, tmp_path: Path, decoded: list[int]
) -> None:
    """Tasks, clocks and stubs know of no record of another file, though names are the same."""
    chance = random.Random(seed)
    data = [written(many(chance.randrange(200, 300), seed * 10 + each % 7))[0] for each in range(9)]
    for place in chance.sample(range(9), 4):
        data[place] = chance.choice(ANYWHERE)(data[place], chance)
    together, alone = ways(put(tmp_path, *data))
    assert together == alone
    assert decoded[0] > 1
    assert decoded[1:] == [1] * sum(decoded[:1])


def test_files_of_all_versions_and_framings_give_the_same(
    tmp_path: Path, decoded: list[int]
) -> None:
    whole = [path.read_bytes() for path in FIXTURE_FILES]
    bodies = [each.body() for each in many(90, 5)]
    framed = [
        BY_NAME[name].write(bodies[start : start + 30]).data
        for name, start in (("bdw", 0), ("length", 30), ("none", 60))
    ]
    packed = gzip.compress(whole[0])
    together, alone = ways(put(tmp_path, *whole, *framed, packed))
    assert together == alone
    assert decoded[0] == len(whole) + len(framed)


def test_no_damage_of_a_file_waits_for_another(tmp_path: Path) -> None:
    sound, garbage = written(many(40, 1))[0], b"\xff" * 40
    paths = put(tmp_path, sound + garbage, garbage + sound, sound[:-3])
    together, alone = ways(paths)
    assert together == alone
    assert [each.source for each in together.damage] == sorted(
        each.source for each in together.damage
    )
    assert len({each.source for each in together.damage}) == 3


@pytest.mark.parametrize(
    ("files", "less", "counts"), [(4, 0, [4, 4]), (4, 1, [1] * 8), (6, 1, [5, 3])]
)
def test_as_many_files_are_decoded_together_as_a_chunk_has_bytes(
    files: int, less: int, counts: list[int], tmp_path: Path, decoded: list[int]
) -> None:
    record = foreign_record(30)
    limits = Limits(chunk_bytes=files * len(record) - less)
    inputs = open_inputs(
        put(tmp_path, *[record] * 8), ReadOptions(keep_duplicates=True, limits=limits)
    )
    assert inputs.arrow("record").num_rows == 8
    assert decoded == counts
