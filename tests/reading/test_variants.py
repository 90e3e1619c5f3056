"""A dump is the same dump in whatever variant it arrives: every record, its number and its place.

Rows of every framing are recomputed in tests/inputs/test_any_parts.py.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse.errors import RequestError, SmfError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.reading.chunks import Part
from smfparse.reading.reader import plan
from tests.support import variants
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURE_FILES
from tests.support.reading import Read, Reading
from tests.support.real import REAL_DATA
from tests.support.searching import of_many, pairs, some
from tests.support.variants import BY_NAME, FRAMINGS, PACKINGS, VARIANTS, Variant, Written, read_rdw

pytestmark = pytest.mark.slow

LONG = Path("longest records")
DUMPS = (*FIXTURE_FILES, *sorted((REAL_DATA or Path()).glob("*.dat")), LONG)
SMALL = FIXTURE_FILES[-2]


@cache
def records(path: Path) -> list[bytes]:
    """Return the records of a dump, or some that are as long as SMF takes."""
    if path != LONG:
        return read_rdw(path.read_bytes())
    changes = {"version": "9.4.0", "seed": 3, "tasks": 2, "queues": 60, "count": 1}
    made = generate_dump(io.BytesIO(), system="SYS1", utc_offset=dt.timedelta(hours=1), **changes)
    return read_rdw(made.getvalue())


def short(value: Any) -> str:
    """Return how a variant, a file or a packing is called among the names of tests."""
    return value.name if isinstance(value, Variant) else Path(str(value or "plain")).name


HEADER = bytes.fromhex("1E02005C62B50126141FD4E5F4C1")
"""The first record of a dump of IBM's, whole; of the second its first 14 bytes are like these."""
TASK = bytes.fromhex("5E73005C62B50126141FD4E5F4C1").ljust(0x480 - 4, b"\xff")
BY_HAND = {
    "rdw": "0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73",
    "rdw-unspanned": "0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73",
    "bdw": "0496 0000 | 0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73",
    "bdw-extended": "8000 0496 | 0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000",
    "none": "1E02 005C62B5 0126141F D4E5F4C1 5E73",
    "length": "0000000E 1E02 005C62B5 0126141F D4E5F4C1 | 0000047C 5E73",
    "ftp-block": "80 000E 1E02 005C62B5 0126141F D4E5F4C1 | 80 047C 5E73",
    "ftp-record": "1E02 005C62B5 0126141F D4E5F4C1 | FF01 5E73 005C62B5",
}
"""How files of variants begin."""
ENDS = {
    "ftp-block-eof": "80 000E 1E02005C62B50126141FD4E5F4C1 40 0000",
    "ftp-block-both": "C0 000E 1E02005C62B50126141FD4E5F4C1",
    "ftp-record-eof": "1E02005C62B50126141FD4E5F4C1 FF01 FF02",
    "ftp-record-both": "1E02005C62B50126141FD4E5F4C1 FF03",
}
"""Files with one record, as the RFC of FTP says."""


def test_variants_are_written_as_samples_of_ibm_and_the_rfc_have_them() -> None:
    for name, first in BY_HAND.items():
        data = BY_NAME[name].write([HEADER, TASK]).data
        assert data.startswith(bytes.fromhex(first.replace("|", ""))), name
    for name, whole in ENDS.items():
        assert BY_NAME[name].write([HEADER]).data == bytes.fromhex(whole), name
    for path in FIXTURE_FILES:  # these were spanned by the dump program's own rule
        assert variants.blocked(read_rdw(path.read_bytes())).data == path.read_bytes(), path


def is_as_written(found: Reading, *files: Written) -> bool:
    """Whether all records of files that stand one behind the other are there, and no damage."""
    bodies, places, behind = [*chain.from_iterable(each.bodies for each in files)], list[int](), 0
    for each in files:
        places += [behind + start for start, _ in each.spans]
        behind += len(each.data)
    return (
        (found.bodies, found.damage) == (bodies, [])
        and found.numbers == list(range(1, len(bodies) + 1))
        # the place of a record is that of its prefix, or right behind it
        and all(0 <= at - start <= 4 for at, start in zip(found.offsets, places, strict=True))
    )


@of_many("variant, dump", some([*product(VARIANTS, DUMPS)], 40), ids=short)
def test_every_record_is_that_of_the_plain_file(read: Read, variant: Variant, dump: Path) -> None:
    """Two files in one are read as two."""
    one, two = variant.write(records(dump)), variant.write(records(SMALL))
    assert is_as_written(read(one.data, variant.framing), one)
    assert is_as_written(read(one.data + two.data), one, two)


@pytest.mark.parametrize("name", FRAMINGS)
def test_only_the_framing_that_it_is_gives_the_records_when_it_is_named(read: Read, name: str):
    file = BY_NAME[name].write(records(SMALL))
    for framing in FRAMINGS:
        fits = framing in (name, "bdw" if name == "rdw" else "")  # what goes by blocks needs none
        found = read(file.data, framing=framing)
        assert (found.refused is None and is_as_written(found, file)) == fits, framing


ARRIVALS = [(name, BY_NAME[each]) for each in FRAMINGS for name in (None, *sorted(PACKINGS))]


@pytest.mark.sampled(4)
@pytest.mark.fuzz
@pytest.mark.parametrize(("packing", "variant"), ARRIVALS, ids=short)
def test_info_says_what_was_detected_and_why(path: Path, packing: str | None, variant: Variant):
    data = variant.write(records(SMALL)).data
    path.write_bytes(PACKINGS[packing](data) if packing else data)
    result = run("info", path, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    [told] = found["inputs"]
    assert (told["name"], told["framing"]) == (str(path), variant.framing)
    assert told["packing"] == ([packing] if packing else [])
    assert told["why"]
    assert (found["records"], found["damage_count"]) == (len(records(SMALL)), 0)


def test_a_framing_is_shown_or_refused(path: Path) -> None:
    path.write_bytes(PACKINGS["gzip"](BY_NAME["length"].write(records(SMALL)).data))
    words = run("info", path, "--framing", "length").stdout
    assert re.search(r"\blength\b.*\bgzip\b|\bgzip\b.*\blength\b", words, re.DOTALL)
    with pytest.raises(RequestError, match="vbs"):
        open_inputs([path], ReadOptions(framing="vbs"))
    assert run("info", path, "--framing", "vbs").exit_code == 2


LIMITS = Limits(chunk_bytes=2 << 20)
BODIES = records(FIXTURE_FILES[0]) * 28
"""So often the first fixture makes a file of several parts: a chunk is never below 2 MB."""


@pytest.mark.sampled(8)
@of_many("variant, share", pairs(VARIANTS, [0.01, 0.5, 0.99]), ids=short)
def test_parts_together_are_the_whole(path: Path, variant: Variant, share: float) -> None:
    """Also of a damaged file. Blind parts, and rows, are in tests/inputs/test_any_parts.py."""
    file = variant.write(BODIES)
    path.write_bytes(variants.with_garbage(file, int(len(BODIES) * share), b"?" * 99))
    whole, parts = Reading(path, limits=LIMITS), plan(path, 2 << 20, limits=LIMITS)
    found = [Reading(path, part, LIMITS) for part in parts]
    for what in ("bodies", "numbers", "offsets", "damage"):
        assert [*chain.from_iterable(getattr(each, what) for each in found)] == getattr(whole, what)
    for part, each in zip(parts, found, strict=True):
        assert each.refused is None
        assert part.records in (None, len(each.bodies))


def test_what_is_no_part_of_a_file_is_refused(path: Path) -> None:
    path.write_bytes(BY_NAME["ftp-record"].write(BODIES).data)
    with pytest.raises(SmfError, match="ftp-record must be read from its start"):
        list(smfparse.decode_part(path, Part(100, 2000, None)))
    file = BY_NAME["rdw"].write(BODIES)
    path.write_bytes(file.data)
    first, *_ = smfparse.plan(path, 1, limits=LIMITS)
    path.write_bytes(variants.flipped(file, 3, b"\xff"))
    with pytest.raises(SmfError, match="not as planned"):
        list(smfparse.decode_part(path, first))
