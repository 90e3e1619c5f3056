"""Reading is linear in bytes, whatever they are: steps and bytes are counted, not seconds."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import DamageLog, InputError
from smfparse.reading import detection, evidence
from smfparse.reading.blocked import BdwWalk
from smfparse.reading.chunks import SLACK
from smfparse.reading.detection import WALKS, probe
from smfparse.reading.reader import read_chunks
from smfparse.reading.segments import Segments, Walk
from smfparse.reading.streams import Decompressor, Feed, Layer
from smfparse.vectors import Bytes, Ints
from tests.support.builders import Section, foreign_record, named_block, segments, smf_record
from tests.support.paths import FIXTURES
from tests.support.searching import of_many, search, some
from tests.support.variants import BY_NAME, VARIANTS, read_rdw, zstd

OTHER = foreign_record(30)
SHORT = smf_record(115, 2, Section([named_block("QIST", 80)]))
NO_DATE = OTHER[:10] + b"\x01\x26\xff\xff" + OTHER[14:]
HOLDS = (2 * len(OTHER)).to_bytes(2, "big") + foreign_record(2)[2:] + OTHER
FIRST, LAST = segments(SHORT, [30])


ALTERNATING = {
    "no date": OTHER + NO_DATE, "two no dates": OTHER + NO_DATE * 2,
    "as long as two": OTHER + HOLDS, "longer than the file": OTHER + b"\xff\xff" + OTHER[2:],
    "longer by a bit": OTHER + b"\x10\x00" + OTHER[2:], "garbage": SHORT + b"\xff" * 4,
    "first ones": OTHER + FIRST, "orphans": OTHER + LAST, "behind blocks": OTHER + HOLDS,
    "in a large block": OTHER + NO_DATE + HOLDS,
    "blocks and records": OTHER + b"\0\x16\0\0" + OTHER,
    "lengths": b"\0\0\0\x0e" + OTHER[4:] + b"\0\0\0\x20" + OTHER[4:],
    "FTP blocks": b"\0\0\x0e" + OTHER[4:] + b"\x80\0\x0e" + OTHER[4:], "line ends": OTHER + b"\r\n",
    "FTP records": OTHER[4:] + b"\xff\x05" + OTHER[4:] + b"\xff\x01",
}  # fmt: skip
BLOCK = (len(OTHER) + 4).to_bytes(2, "big") + bytes(2) + OTHER
WHOLE: dict[str, Callable[[bytes], bytes]] = {
    "behind blocks": lambda records: BLOCK * 40 + records,  # so that they seem to be in one
    "in a large block": lambda data: (0x8000_0000 | len(data) + 4).to_bytes(4, "big") + data,
}


@pytest.mark.sampled(3)
@pytest.mark.slow
@of_many("what", some(sorted(ALTERNATING), 5))
def test_damage_everywhere_costs_steps_in_proportion_to_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """And headers behind it are looked for once. Steps are segments and calls of all walks."""
    cost: Counter[str] = Counter()
    headers_in = evidence.headers_in

    def searching(buffer: Bytes, low: int, end: int) -> Ints:
        cost["searched"] += end - low
        return headers_in(buffer, low, end)

    def counting(plain: Callable[..., Segments]) -> Callable[..., Segments]:
        def walking(*arguments: object, **named: object) -> Segments:
            found = plain(*arguments, **named)
            cost["steps"] += found.code.size + 1
            return found

        return walking

    for walk in WALKS.values():
        monkeypatch.setattr(type(walk), "segments", counting(type(walk).segments))
    monkeypatch.setattr(evidence, "headers_in", searching)
    path, piece, steps = tmp_path / "input", ALTERNATING[what], []
    for size in (8 << 10, 32 << 10):
        path.write_bytes(data := WHOLE.get(what, bytes)(piece * (size // len(piece))))
        cost.clear()
        framing = probe(path)[1]
        cost["searched"] = 0
        assert list(read_chunks(path, DamageLog(), framing=framing))
        steps.append(cost["steps"])
    assert cost["searched"] < len(data) + (20 << 10)  # windows of 16 KB
    assert steps[1] < min(6 * (32 << 10), 4.5 * steps[0])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_of_thousands_of_members_all_are_read_a_few_times_and_few_empty_ones_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    costs: Counter[str] = Counter()
    read, stream, path = Feed.read, Layer.stream, tmp_path / "input"

    def reading(feed: Feed, most: int | None = None) -> bytes:
        found = read(feed, most)
        costs["bytes"] += len(found)
        return found

    def opening(layer: Layer, library: Decompressor) -> Generator[bytes, None, bytes]:
        costs["opened"] += 1
        return stream(layer, library)

    monkeypatch.setattr(Feed, "read", reading)
    monkeypatch.setattr(Layer, "stream", opening)
    small, empty = (pack(b"") + pack(b"-")) * 1_500, pack(b"") * 3_000
    for data, refused in ((small, "no SMF records"), (empty, "the file is empty")):
        costs.clear()
        path.write_bytes(data)
        with pytest.raises(InputError, match=refused):
            list(read_chunks(path, DamageLog()))
        assert costs["bytes"] < 40 * len(data)
    assert costs["opened"] < 100


def test_to_look_at_and_read_a_small_file_takes_little_more_than_it_has() -> None:
    small = FIXTURES / "qm60.smf"
    for work in (lambda: probe(small), lambda: list(read_chunks(small, DamageLog()))):
        work()  # what is loaded on the way does not count
        tracemalloc.start()
        work()
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
        tracemalloc.stop()


BODIES = read_rdw((FIXTURES / "qm01-930.smf").read_bytes())


@given(data=st.data())
@search(40)
def test_the_faster_look_for_blocks_changes_no_framing(data: Any) -> None:
    kinds = st.sampled_from(["bdw", "rdw", "rdw-unspanned", "length"])
    some = slice(data.draw(st.integers(0, 40)), data.draw(st.integers(41, 100)))
    joined = b"".join(
        BY_NAME[each].write(BODIES[some]).data[data.draw(st.sampled_from([0, 0, 4, 8, 50])) :]
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


def test_no_walk_is_tried_behind_the_right_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tried: list[Walk] = []
    found = detection._found

    def noted(walk: Walk, *rest: Any) -> Any:
        tried.append(walk)
        return found(walk, *rest)

    monkeypatch.setattr(detection, "_found", noted)
    every, path = list(WALKS.values()), tmp_path / "a.smf"
    for variant in (each for each in VARIANTS if WALKS[each.framing].chained):
        tried.clear()
        path.write_bytes(variant.write(BODIES).data)
        _, framing = probe(path)
        assert framing.name == variant.framing
        assert tried == every[: every.index(framing.walk) + 1]
