"""Headers that are not as most: signature records, and types above 255.

IBM's SMF manual calls records of type 2, subtypes 1 and 2, signature records of a group and of an
interval; they have the bit of subtypes, which dump headers have not. Nothing in them says how long
they are. Types above 255 are in the extended SMF header, behind type 126.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import smfparse
from smfparse.reading import look_at
from tests.support.builders import (
    Section,
    extended_record,
    foreign_record,
    named_block,
    qwhs_long,
    signature_record,
    smf_record,
)
from tests.support.command import run
from tests.support.paths import PROJECT
from tests.support.reading import Reading
from tests.support.variants import BY_NAME, FRAMINGS, VARIANTS, Variant

CASES = PROJECT.parent / "shared" / "data" / "cases"
MQ = [
    smf_record(115, 2, Section(), Section([named_block("QIST", 80)]), area=qwhs_long(), qmgr=name)
    for name in ("MQ01", "MQ02", "MQ03")
]
HEADER, TRAILER = foreign_record(2), foreign_record(3)


def signed(size: int) -> list[bytes]:
    groups = [signature_record(1, size, seed) for seed in (1, 2)]
    interval = signature_record(2, size + 280, 3)
    return [HEADER, MQ[0], groups[0], MQ[1], groups[1], interval, MQ[2], interval, TRAILER]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_a_signature_of_any_length_is_a_record_and_no_damage(
    variant: Variant, tmp_path: Path
) -> None:
    for size in (0, 1, 9, 420, 5_000, 30_000):
        records = [each[4:] for each in signed(size)]
        path = tmp_path / "input"
        path.write_bytes(variant.write(records).data)
        found = Reading(path)
        assert (found.bodies, found.damage) == (records, []), size
        assert look_at(path)[1].name == variant.framing


def test_a_dump_begins_at_its_header_and_at_no_signature(tmp_path: Path) -> None:
    """Signatures in two dumps are counted once, and as such."""
    path = tmp_path / "input"
    path.write_bytes(b"".join([*signed(420), *signed(420)]))
    data = smfparse.open(path, keep_duplicates=True, fingerprints=True)
    starts = data.sql("SELECT dump_start FROM record ORDER BY record_no").to_pydict()
    assert Counter(starts["dump_start"]) == {1: 9, 10: 9}
    shown = run("info", path)
    assert shown.exit_code == 0
    lines = [each.split() for each in shown.stdout.splitlines()]
    kinds = {(each[3], each[4]): (each[5], " ".join(each[11:])) for each in lines if len(each) > 11}
    assert kinds["2", "1"] == ("2", "SMF signature record")
    assert kinds["2", "2"] == ("2", "SMF signature record")
    assert kinds["2", "-"] == ("1", "SMF dump header")


@pytest.mark.skipif(not CASES.exists(), reason="needs ../shared/data/cases")
def test_the_signed_file_of_issue_38_is_sound() -> None:
    path = CASES / "signed-none.smf"
    shown = run("info", path)
    assert (shown.exit_code, shown.stderr) == (0, "")
    counted = "SELECT subtype, count(*) FROM record WHERE type = 2 GROUP BY ALL ORDER BY ALL"
    rows = run("sql", path, counted, "--format", "csv").stdout.splitlines()[1:]
    assert rows == ["1,36", "2,12", ",1"]


RECORDS = [
    foreign_record(2),
    MQ[0],
    extended_record(1154, 2, bytes(range(256))),
    extended_record(2047),
    MQ[0],
    extended_record(200, 7, b"\xff" * 40),
    foreign_record(3),
]
TYPES = [2, 115, 1154, 2047, 115, 200, 3]
BY_NUMBER = "SELECT type FROM record ORDER BY source, record_no"


def types_in(path: Path) -> list[int]:
    data = smfparse.open(path)
    found: list[int] = data.sql(BY_NUMBER).to_pydict()["type"]
    return found


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.smf"
    path.write_bytes(b"".join(RECORDS))
    return path


@pytest.mark.parametrize("name", FRAMINGS)
def test_the_type_is_that_of_the_extended_header_in_every_framing(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(BY_NAME[name].write([each[4:] for each in RECORDS]).data)
    found = Reading(path)
    assert (found.bodies, found.damage) == ([each[4:] for each in RECORDS], [])
    assert types_in(path) == TYPES


NOT_SOUND = {
    "no bit of an extended header": extended_record(1154, flags=0x5E),
    "no bit of a subtype": extended_record(1154, flags=0x3E),
    "another length": extended_record(1154, length=31),
    "another version": extended_record(1154, version=2),
    "more than any type": extended_record(2048),
    "a type of MQ": extended_record(115),
    "a type of the dump program": extended_record(2),
    "too short": b"\0\x37\0\0" + extended_record(1154)[4:-1],
    "a standard header": foreign_record(126),
}


@pytest.mark.parametrize("what", NOT_SOUND)
def test_a_record_whose_extended_header_is_not_sound_stays_126(what: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"".join([MQ[0], NOT_SOUND[what], MQ[1]]))
    assert types_in(path) == [115, 126, 115]


def test_types_above_255_are_shown_and_selected(dump: Path) -> None:
    assert "1154        2        1" in run("info", dump).stdout
    for asked, count in (("1154", 1), ("1154(1)", 0), ("256:2047", 2), ("126", 0), ("200", 1)):
        counted = run(
            "sql", dump, "SELECT count(*) FROM record", "--type", asked, "--format", "csv"
        )
        assert counted.stdout.splitlines()[1:] == [str(count)], asked
    shown = run("dump", dump, "--record", 3).stdout
    assert "the SMF record type is 1154" in shown
    assert "0034  0482" in shown
