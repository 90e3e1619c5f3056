"""Signature records of signed log streams (type 2, subtypes 1 and 2) begin no dump.

IBM's SMF manual calls them signature records of a group and of an interval; they have the bit of
subtypes, which dump headers have not. Nothing in them says how long they are.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import smfparse
from smfparse.reading import look_at
from tests.support.builders import (
    Section,
    foreign_record,
    named_block,
    qwhs_long,
    signature_record,
    smf_record,
)
from tests.support.command import run
from tests.support.paths import PROJECT
from tests.support.reading import Reading
from tests.support.variants import VARIANTS, Variant

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
