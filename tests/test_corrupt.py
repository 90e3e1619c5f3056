"""The corrupter, tools/corrupt.py: it finds nothing, and would notice what must not be."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import FIXTURE_FILES
from tests.support.tools import tool

pytestmark = pytest.mark.slow

corrupt = tool("corrupt")
cases, framings, judging, mutations, reading, samples = (
    tool(f"corruption.{name}")
    for name in ("cases", "framings", "judging", "mutations", "reading", "samples")
)
BATCHES = 24
MORE_SEEDS = [pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12)]


@pytest.mark.parametrize("seed", [1, *MORE_SEEDS])
def test_of_damaged_files_nothing_is_lost_in_silence(tmp_path: Path, seed: int) -> None:
    trial = corrupt.Trial(cases.Cases(seed, FIXTURE_FILES), tmp_path)
    found = [
        f"{case.number}: {each}"
        for number in range(BATCHES)
        for case, _, findings in trial.judged(number)
        for each in findings
        if each.what != "takes too long"  # another process may be what takes long
    ]
    assert found == []


def records(draw: random.Random, count: int = 5) -> list[Any]:
    return [samples.of_dump(draw)] + [samples.made(draw) for _ in range(count)]


def test_what_is_written_is_sound_and_not_so_if_it_is_cut() -> None:
    draw = random.Random(1)
    for framing in framings.FRAMINGS * 60:
        drawn = records(draw)
        built = framings.drawn(draw, framing, drawn)
        found = judging.strictly(framing, built.data)
        assert found == [(each.start, each.sample.body) for each in built.records]
        assert [each.sample for each in built.records] == drawn
        assert all(each.sample.exact for each in built.records)
        assert judging.strictly(framing, built.data[: -draw.randint(5, 14)]) is None


def with_row(number: int, **changes: Callable[[int], int]) -> Callable[[Any], None]:
    def spoil(found: Any) -> None:
        row = found.rows[number]
        new = {name: change(getattr(row, name)) for name, change in changes.items()}
        found.rows[number] = replace(row, **new)

    return spoil


def with_other_values(found: Any) -> None:
    for values in found.values.values():
        values[:] = [(at, value + 1) for at, value in values]


LINE_END = b"\r\n"
SPOILED: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    "an untouched record is gone, in silence": (LINE_END, lambda it: it.rows.pop(1)),
    "an untouched record has another length, in silence": (
        *(LINE_END, with_row(1, length=lambda length: length + 1)),
    ),
    "an untouched record is gone, but reported": (
        *(LINE_END, with_row(3, offset=lambda offset: offset - 1)),
    ),
    "a row shows what is not there": (LINE_END, with_row(1, type=lambda _: 9)),
    "an untouched record has other values": (LINE_END, with_other_values),
    "bytes are in no record and not reported": (LINE_END, lambda it: it.damage.clear()),
    "an untouched record, but the file is refused": (
        *(LINE_END, lambda it: setattr(it, "refused", "no SMF records in it")),
    ),
    "fails: ValueError": (LINE_END, lambda it: setattr(it, "failed", "ValueError")),
    "a sound file is read as another one": (b"", lambda it: it.rows.pop(1)),
    "a sound file is refused": (b"", lambda it: setattr(it, "refused", "none")),
}
"""What is found where so many bytes are between two records, and a reading is spoiled so."""


def test_what_must_not_be_is_noticed(tmp_path: Path) -> None:
    for what, (between, spoil) in SPOILED.items():
        draw, manner = random.Random(1), cases.Manner("rdw", "small", small=True)
        built = framings.drawn(draw, "rdw", records(draw))
        made = mutations.Rope.of(built.data)
        at = built.records[2].end
        made.replace(at, at, mutations.Rope(between))
        case = cases.Case(1, "rdw", built.data, made, built.records, bytes(made.data))
        ((found,), _) = reading.read(tmp_path, [case.file], manner)
        assert [*judging.Judge(case, manner, found).findings()] == []
        spoil(found)
        assert what in {each.what for each in judging.Judge(case, manner, found).findings()}
