"""Record ends distinguish FTP record structure from no framing, however much is damaged.

Read as the other one, escapes stay or bytes go, and all bytes behind them are shifted: the numbers
are wrong, and nothing says so. Then a record is better lost, and told.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smfparse.reading import look_at
from tests.support.builders import Section, foreign_record, named_block, qwhs_long, smf_record
from tests.support.command import run
from tests.support.paths import PROJECT
from tests.support.reading import Read, Reading
from tests.support.searching import search
from tests.support.tools import tool
from tests.support.variants import ftp_record, no_prefix

CASES = PROJECT.parent / "shared" / "data" / "cases"
MARK = b"\xff\1"


def body(name: str, filler: bytes = b"\xff" * 20) -> bytes:
    """Return a record of MQ without its RDW; `filler` is in the block in front of QWHS."""
    block, area = Section([named_block("QIST", 60) + filler]), qwhs_long()
    area = area[:12] + name.encode("cp500") + area[16:]
    return smf_record(115, 2, Section(), block, area=area, qmgr=name)[4:]


A, B = body("QM01"), body("QM02")
SMALL = body("QM03", filler=bytes(20))
"""A record without any FF."""


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def escaped(data: bytes) -> bytes:
    return data.replace(b"\xff", b"\xff\xff")


def without_escapes(data: bytes) -> bytes:
    """Return what FTP's record structure has there: one FF for two."""
    plain, at = bytearray(), 0
    while at < len(data):
        plain.append(data[at])
        at += 2 if data[at : at + 2] == b"\xff\xff" else 1
    return bytes(plain)


@pytest.mark.parametrize(
    ("framing", "data", "there"),
    [
        ("ftp-record", bytes(40) + MARK + escaped(A) + MARK + bytes(3000) + MARK, [A]),
        ("ftp-record", escaped(A) + MARK + bytes(3000) + escaped(B) + MARK + bytes(900), [A, B]),
        ("ftp-record", SMALL + escaped(A) + MARK, [SMALL, A]),
        ("ftp-record", b"".join([escaped(A), MARK, bytes(90), b"\xff\3"]), [A]),
        ("none", A + B + MARK + A, [A, B, A]),
        ("none", bytes(50) + A + MARK + A + B, [A, A, B]),
        ("none", (A[:-2] + MARK) * 3, [A[:-2] + MARK] * 3),
        ("none", A + foreign_record(30)[4:] + MARK + B, [A, foreign_record(30)[4:] + MARK, B]),
    ],
    ids=[
        "damage behind the first record of which anything is left",
        "damage between two records",
        "a mark is lost",
        "the last mark ends the file",
        "a mark between whole records by chance",
        "a mark behind damage by chance",
        "marks at the end of each record",
        "a mark at the end of a record that does not tell its length",
    ],
)
def test_the_ends_of_records_show_whether_there_are_marks(
    tmp_path: Path, framing: str, data: bytes, there: list[bytes]
) -> None:
    path = write(tmp_path / "input", data)
    assert look_at(path)[1].name == framing
    assert Reading(path).bodies == there


def test_a_record_that_is_escaped_is_told_rather_than_read_with_its_bytes_shifted(
    read: Read,
) -> None:
    """Its mark is gone: neither framing fits, but QWHS is where it is behind escapes only."""
    found = read(SMALL + SMALL + escaped(A) + b"\xee" * 9)
    assert found.bodies == [SMALL, SMALL]
    told = found.damage[0]
    assert (told.offset, told.length) == (2 * len(SMALL), len(A))
    assert "--framing ftp-record or --framing none" in told.reason


def test_who_asks_for_no_framing_gets_the_bytes_as_they_are(read: Read) -> None:
    found = read(SMALL + SMALL + escaped(A) + b"\xee" * 9, framing="none")
    assert found.bodies == [SMALL, SMALL, escaped(A)[: len(A)]]


def test_a_record_with_ff_in_front_of_damage_is_kept_where_nothing_is_escaped(read: Read) -> None:
    assert read(A + b"\xee" * 9).bodies == [A]


def test_a_record_whose_last_bytes_may_be_escaped_is_kept_if_enough_others_have_no_marks(
    read: Read,
) -> None:
    """Nothing in it shows whether the last FFs are one or two."""
    doubtful = A[:-8] + b"\0\0\xff\xff\0\0\0\1"
    assert read(doubtful + b"\xee" * 9).bodies == []
    assert read(B + B + doubtful + b"\xee" * 9 + B).bodies == [B, B, doubtful, B]


def test_marks_are_counted_behind_the_first_megabyte(tmp_path: Path) -> None:
    """Detection sees nothing but `none` fit; the marks further on show what the records are."""
    first = write(tmp_path / "input", SMALL * 3 + bytes(1 << 20) + (escaped(A) + MARK) * 9)
    assert look_at(first)[1].name == "none"
    found = Reading(first)
    assert found.bodies == [SMALL] * 3
    assert sum("escapes of FTP" in each.reason for each in found.damage) == 9


@pytest.mark.skipif(not CASES.exists(), reason="needs ../shared/data/cases")
def test_the_file_of_issue_38_has_its_numbers() -> None:
    path = CASES / "ftp-record-damaged.smf"
    assert look_at(path)[1].name == "ftp-record"
    duration = "SELECT qwhsdurn FROM record WHERE type = 115 AND subtype = 1 ORDER BY record_no"
    shown = run("sql", path, duration, "--format", "csv")
    assert shown.output.splitlines()[1] == "1792884543"


samples = tool("corruption.samples")
_seeds = st.lists(st.tuples(st.integers(0, 1 << 32), st.sampled_from("mmmmfd")), min_size=1)


def _bodies(drawn: list[tuple[int, str]]) -> list[bytes]:
    make = {"m": samples.made, "f": samples.foreign, "d": samples.of_dump}
    return [make[kind](Random(seed)).body for seed, kind in drawn[:8]]


@st.composite
def _edits(draw: st.DrawFn) -> tuple[float, int, bytes]:
    """Return a place in a file, the bytes that are taken out there, and what is put in."""
    by = draw(st.sampled_from([b"", b"", b"\xff", MARK, bytes(9)]) | st.binary(max_size=90))
    return draw(st.floats(0, 1)), draw(st.sampled_from([0, 1, 1, 2, 30, 500])), by


@search(60)
@given(seeds=_seeds, edit=_edits(), bare=st.booleans())
@example([(237, "m"), (238, "m")], (0.0, 1, b""), False)
def test_no_record_of_a_damaged_file_is_shifted(
    tmp_path_factory: pytest.TempPathFactory,
    seeds: list[tuple[int, str]],
    edit: tuple[float, int, bytes],
    bare: bool,
) -> None:
    bodies = _bodies(seeds)
    data = (no_prefix if bare else ftp_record)(bodies).data
    at = int(edit[0] * len(data))
    data = data[:at] + edit[2] + data[at + edit[1] :]
    path = write(tmp_path_factory.mktemp("marks") / "input", data or b"\0")
    found = Reading(path)
    for record, at in zip(found.bodies, found.offsets, strict=True):
        raw = data[at : at + 2 * len(record)]
        edited = at <= int(edit[0] * len(data)) < at + len(raw) and edit[1] != len(edit[2])
        by_chance = at + len(record) == len(data)  # cut where the record would end if it was bare
        if record[1] in (115, 116) and (bare or not (edited or by_chance)):
            assert record == (raw if bare else without_escapes(raw))[: len(record)]


@search(30)
@given(seeds=_seeds, places=st.lists(st.floats(0, 1), max_size=6))
def test_marks_within_records_make_no_ftp_record_structure(
    tmp_path_factory: pytest.TempPathFactory,
    seeds: list[tuple[int, str]],
    places: list[float],
) -> None:
    data = bytearray(no_prefix(_bodies(seeds)).data)
    for each in places:
        at = int(each * (len(data) - 2))
        data[at : at + 2] = MARK
    path = write(tmp_path_factory.mktemp("marks") / "input", bytes(data))
    found = Reading(path)
    if found.refused is None and look_at(path)[1].name == "ftp-record":
        for record, at in zip(found.bodies, found.offsets, strict=True):
            assert bytes(data[at : at + len(record)]) == record
