"""Any parts of a file, planned or blind, give the rows of the whole.

How far records may be from those that they have to know of is in tests/decoding/test_distances.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.selection import Selection
from smfparse.errors import DamageLog
from smfparse.inputs.options import ReadOptions
from smfparse.inputs.range import Log, Range
from smfparse.limits import Limits
from smfparse.reading import reader
from smfparse.reading.chunks import WHOLE_SOURCE, Part
from smfparse.reading.detection import framing_named
from smfparse.reading.reader import Input, agree, look_through, plan, ranges_of
from tests.inputs.test_ranges import rows_of
from tests.support.mixed_records import TABLES, Each, many, several
from tests.support.searching import of_many, search, some
from tests.support.variants import BY_NAME, PACKINGS, VARIANTS, Variant, bdw, blocked, ftp_block

pytestmark = pytest.mark.slow

MIXED = wanted_tables(TABLES)
SMALL = 600
"""Bytes of a block: less than of a long record."""
BLIND = [
    *(each for each in VARIANTS if each.framing != "ftp-record"),
    Variant("rdw-small", "rdw", partial(blocked, size=SMALL)),
    Variant("bdw-small", "bdw", partial(blocked, prefix=bdw, size=SMALL)),
    Variant("ftp-block-small", "ftp-block", partial(ftp_block, most=200)),
]
PLANNED = [*BLIND, BY_NAME["ftp-record"]]


def limits_of(reach: int, chunk_bytes: int = 1) -> Limits:
    return Limits(chunk_bytes=chunk_bytes, max_spanned=6 << 10, look_back_bytes=reach)


@dataclass(frozen=True)
class File:
    """A file of a framing, and how much of it is looked at at once."""

    path: Path
    framing: str
    limits: Limits

    def rows(self, parts: Iterable[Part] = (WHOLE_SOURCE,), **asked: Any) -> dict[str, Any]:
        file = Input(self.path, "source", framing=framing_named(self.framing), limits=self.limits)
        options = ReadOptions(Selection.of(**asked), limits=self.limits)
        ranges = [Range(file, MIXED, part, options) for part in parts]
        batches = (each.batches(Log(DamageLog())) for each in ranges)
        return rows_of(itertools.chain.from_iterable(batches), MIXED)

    def check_blind(self, size: int, borders: Iterable[int], whole: Any, **asked: Any) -> None:
        """Check that blind parts have the rows of the whole, but for their numbers."""
        edges = sorted({0, size, *borders})
        parts = [Part(start, end, None) for start, end in itertools.pairwise(edges)]
        for table, rows in self.rows(parts, **asked).items():
            numbers = [each for each in rows.column_names if each.endswith("record_no")]
            assert all(rows[each].null_count == rows.num_rows for each in numbers)
            assert rows.drop_columns(numbers) == whole[table].drop_columns(numbers), table


def planned_parts(file: File, part_bytes: int) -> list[Part]:
    """Cut a file wherever a chunk starts, whatever its first record has to know of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_can_start", lambda chunk: True)
        return plan(file.path, part_bytes, framing=file.framing, limits=file.limits)


@given(
    records=several(40),
    reach=st.sampled_from([1, 40, 300, 1000, 2500, 6000, 1 << 26]),
    chunk_bytes=st.sampled_from([1, 14_000, 20_000]),
    data=st.data(),
)
@search(18)
def test_any_parts_of_any_file_give_the_rows_of_the_whole(
    tmp_path: Path, records: list[Each], reach: int, chunk_bytes: int, data: st.DataObject
) -> None:
    """Also where a task is wanted because of a queue in a record of another part."""
    variant = data.draw(st.sampled_from(PLANNED))
    records = records * data.draw(st.sampled_from([1, 8]))
    file, size = written(tmp_path, variant, records, limits_of(reach, chunk_bytes))
    asked: dict[str, Any] = data.draw(st.sampled_from([{}, {"queue": ["Q1"]}]))
    whole = file.rows(**asked)
    assert asked or whole["record"].num_rows == len(records)
    assert file.rows(planned_parts(file, data.draw(st.integers(1, size))), **asked) == whole
    if variant in BLIND:
        borders = data.draw(st.sets(st.integers(0, size), max_size=12))
        file.check_blind(size, borders, whole, **asked)


def test_a_part_starts_with_a_record_that_has_to_know_of_no_other(tmp_path: Path) -> None:
    records = many(500, 1)
    file, _ = written(tmp_path, BY_NAME["rdw"], records, limits_of(1))
    _, *later = plan(file.path, 4096, limits=file.limits)
    looked = Input(file.path, "source", framing=framing_named("rdw"), limits=file.limits)
    assert agree([look_through(looked, each) for each in ranges_of(looked, 50_000)])
    assert len(later) > 5
    assert len(planned_parts(file, 50_000)) in (6, 7)
    assert {records[each.record_no - 1].kind for each in later} <= {"clock", "task", "wrong"}


def test_behind_a_place_that_is_not_sound_a_file_is_not_cut(tmp_path: Path) -> None:
    file, _ = written(tmp_path, BY_NAME["rdw"], many(200, 1), limits_of(1))
    *before, _ = planned_parts(file, 1)
    content = file.path.read_bytes()
    first, last = Each("task", 0, 0, 0, (300,)).pieces()
    for broken in (b"\xff" * 8, bytes(5000), bytes.fromhex("00030000"), first, last):
        file.path.write_bytes(content + broken + content)
        *parts, rest = planned_parts(file, 1)
        assert parts[: len(before)] == before
        assert len(parts) <= len(before) + 2
        assert rest.end is None


def test_a_part_ends_in_front_of_a_block_not_of_the_first_record_in_it(tmp_path: Path) -> None:
    """Also of one that begins with a spanned record."""
    kinds = ("clock",) * 5 + ("task",) * 3 + ("queues",)
    records = [Each(kind, 0, 0, 0) for kind in kinds] * 8
    for variant in (each for each in BLIND if each.name in ("bdw-small", "bdw-null")):
        file, _ = written(tmp_path, variant, records, limits_of(1))
        parts = planned_parts(file, 1)
        assert len(parts) > 3
        assert file.rows(parts) == file.rows()


def written(place: Path, variant: Variant, records: list[Each], limits: Limits) -> tuple[File, int]:
    """Write records; those that come in pieces do so where the framing has any."""
    path = place / "any.smf"
    if variant.name == "rdw":
        data = b"".join(piece for each in records for piece in each.pieces())
    else:
        data = variant.write([each.body() for each in records]).data
    path.write_bytes(data)
    return File(path, variant.framing, limits), len(data)


@of_many("packing", some([*PACKINGS], 1))
def test_blind_parts_of_a_packed_file_are_of_what_is_packed(tmp_path: Path, packing: str) -> None:
    file, size = written(tmp_path, BY_NAME["rdw"], many(60, 3), limits_of(3000))
    whole = file.rows()
    file.path.write_bytes(PACKINGS[packing](file.path.read_bytes()))
    file.check_blind(size, [11_111, 22_222, 22_230], whole)
