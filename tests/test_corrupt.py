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
cases, framings, judging = map(
    tool, ("corruption.cases", "corruption.framings", "corruption.judging")
)
mutations, reading, rope = map(
    tool, ("corruption.mutations", "corruption.reading", "corruption.rope")
)
samples, strict = map(tool, ("corruption.samples", "corruption.strict"))

BATCHES = 32
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
        found = strict.strictly(framing, built.data)
        assert found == [(each.start, each.sample.body) for each in built.records]
        assert [each.sample for each in built.records] == drawn
        assert all(each.sample.exact for each in built.records)
        assert strict.strictly(framing, built.data[: -draw.randint(5, 14)]) is None


def test_every_mutation_changes_something_and_keeps_a_rope_true() -> None:
    draw = random.Random(1)
    for mutate in mutations.MUTATIONS.values():
        changed = False
        for framing in framings.FRAMINGS * 6:
            built = framings.drawn(draw, framing, records(draw, 3))
            made = rope.Rope(built.data)
            mutate(draw, made, built)
            assert len(made.data) == len(made.origin)
            kept = [(at, old) for at, old in enumerate(made.origin.tolist()) if old >= 0]
            assert all(made.data[at] == built.data[old] for at, old in kept)
            changed |= made.data != built.data
        assert changed, mutate


def test_a_seed_makes_the_same_inputs() -> None:
    one, again, other = (cases.Cases(seed, FIXTURE_FILES) for seed in (1, 1, 2))
    files = [one.case(each).file for each in range(40)]
    assert files == [again.case(each).file for each in range(40)]
    assert files[3] != other.case(3).file


def written(framing: str, between: bytes) -> Any:
    """Return a case in which nothing was done to a file but bytes put in between two records."""
    draw = random.Random(1)
    built = framings.drawn(draw, framing, records(draw))
    case = cases.Case(1, framing, built.data, rope.Rope(built.data), list(built.records))
    at = built.records[2].end
    case.rope.replace(at, at, rope.Piece(between))
    case.file = bytes(case.rope.data)
    return case


def with_row(number: int, name: str, by: int) -> Callable[[Any], object]:
    """Return what adds to a value of a row."""

    def spoil(found: Any) -> None:
        row = found.rows[number]
        found.rows[number] = replace(row, **{name: getattr(row, name) + by})

    return spoil


def with_other_values(found: Any) -> None:
    for values in found.values.values():
        values[:] = [(at, value + 1) for at, value in values]


def refused(found: Any) -> None:
    found.refused = "no SMF records in it"


def failed(found: Any) -> None:
    found.failed = "ValueError"


Spoiled = dict[str, Callable[[Any], object]]
DAMAGED: Spoiled = {
    "an untouched record is gone, in silence": lambda it: it.rows.pop(1),
    "an untouched record has another length, in silence": with_row(1, "length", 1),
    "an untouched record is gone, but told": with_row(3, "offset", -1),
    "a row shows what is not there": with_row(1, "type", 1),
    "an untouched record has other values": with_other_values,
    "bytes are in no record and not told": lambda it: it.damage.clear(),
    "an untouched record, but the file is refused": refused,
    "fails: ValueError": failed,
}
SOUND: Spoiled = {
    "a sound file is read as another one": lambda it: it.rows.pop(1),
    "a sound file is refused": refused,
}


def test_what_must_not_be_is_noticed(tmp_path: Path) -> None:
    for framing, between, spoiled in (("rdw", b"\r\n", DAMAGED), ("length", b"", SOUND)):
        manner = cases.Manner(framing, "small", small=True)
        case = written(framing, between)
        for what, spoil in spoiled.items():
            ((found,), _) = reading.read(tmp_path, [case.file], manner)
            assert [*judging.Judge(case, manner, found).findings()] == []
            spoil(found)
            assert what in {each.what for each in judging.Judge(case, manner, found).findings()}
