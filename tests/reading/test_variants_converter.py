"""The converter of support/variants.py itself, against bytes written by hand."""

from __future__ import annotations

import itertools

import pytest

from tests.support.paths import FIXTURE_FILES
from tests.support.variants import (
    BLOCK,
    BY_NAME,
    LONGEST,
    VARIANTS,
    Variant,
    blocked,
    blocks_of,
    ftp_record,
    plausible,
    read,
    read_rdw,
)

HEADER = bytes.fromhex("1E02005C62B50126141FD4E5F4C1")
"""The first record of a dump of IBM's, whole; of the second its first 14 bytes are like these."""
TASK = bytes.fromhex("5E73005C62B50126141FD4E5F4C1").ljust(0x480 - 4, b"\xff")


def starts(text: str) -> bytes:
    return bytes.fromhex(text.replace("|", ""))


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("rdw", "0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73"),
        ("rdw-unspanned", "0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73"),
        ("bdw", "0496 0000 | 0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000 5E73"),
        ("bdw-extended", "8000 0496 | 0012 0000 1E02 005C62B5 0126141F D4E5F4C1 | 0480 0000"),
        ("none", "1E02 005C62B5 0126141F D4E5F4C1 5E73"),
        ("length", "0000000E 1E02 005C62B5 0126141F D4E5F4C1 | 0000047C 5E73"),
        ("ftp-block", "80 000E 1E02 005C62B5 0126141F D4E5F4C1 | 80 047C 5E73"),
        ("ftp-record", "1E02 005C62B5 0126141F D4E5F4C1 | FF01 5E73 005C62B5"),
    ],
)
def test_a_variant_starts_as_ibms_sample_would(name: str, first: str) -> None:
    assert BY_NAME[name].write([HEADER, TASK]).data.startswith(starts(first))


def test_a_full_block_says_what_ibms_samples_say() -> None:
    file = BY_NAME["bdw"].write([HEADER] + [TASK] * 60)
    assert file.data.startswith(starts("6D5E 0000 | 0012 0000 1E02"))
    assert len(file.data[: file.data.index(starts("6D5E 0000"), 1)]) == BLOCK


def test_segments_are_cut_where_a_block_ends_and_carry_their_codes() -> None:
    body = bytes(range(1, 26))
    file = blocked([b"ABC", body], size=4 + 16)
    assert file.data == b"".join(
        [
            starts("0007 0000") + b"ABC" + starts("0009 0100") + body[:5],
            starts("0010 0300") + body[5:17],
            starts("000C 0200") + body[17:],
        ]
    )
    assert file.spans == ((0, 7), (7, 44))
    for size, codes in ((4 + 7 + 5, [[0, 1], [2]]), (4 + 7 + 4, [[0], [0]])):
        found = blocks_of([b"ABC", b"DE"], size)
        assert [[each.code for each in block] for block in found] == codes


def test_a_null_segment_fills_the_rest_of_its_block() -> None:
    file = blocked([b"ABC", b"DE", b"F"], size=4 + 24, records=2)
    null = starts("000B 8000") + bytes(7), starts("0013 8000") + bytes(15)
    first = starts("0007 0000") + b"ABC" + starts("0006 0000") + b"DE" + null[0]
    assert file.data == first + starts("0005 0000") + b"F" + null[1]
    assert file.spans == ((0, 7), (7, 13), (24, 29))


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ftp-block-eof", "80 000E 1E02005C62B50126141FD4E5F4C1 40 0000"),
        ("ftp-block-both", "C0 000E 1E02005C62B50126141FD4E5F4C1"),
        ("ftp-record-eof", "1E02005C62B50126141FD4E5F4C1 FF01 FF02"),
        ("ftp-record-both", "1E02005C62B50126141FD4E5F4C1 FF03"),
    ],
)
def test_an_ftp_file_ends_as_the_rfc_says(name: str, end: str) -> None:
    assert BY_NAME[name].write([HEADER]).data == bytes.fromhex(end)


def test_an_ff_is_doubled() -> None:
    assert ftp_record([b"a\xffb", b"\xff\xff\x01"]).data == (
        b"a\xff\xffb\xff\x01" + b"\xff\xff\xff\xff\x01\xff\x01"
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_what_was_written_is_read_and_nothing_that_is_cut(variant: Variant) -> None:
    dumps = [read_rdw(path.read_bytes()) for path in FIXTURE_FILES]
    for bodies in (*dumps, [HEADER, TASK.ljust(LONGEST, b"\xff"), HEADER]):
        assert all(map(plausible, bodies))
        file = variant.write(bodies)
        assert read(variant.framing, file.data) == bodies
        assert len(file.spans) == len(bodies)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(file.spans))
    data = variant.write([HEADER, TASK, TASK]).data
    for size in (4, 7, 20) if variant.framing != "none" else ():
        with pytest.raises(ValueError, match=r"says|no end|inside|half|no escape"):
            read(variant.framing, data[:-size])


def test_fixtures_are_spanned_as_the_dump_program_does() -> None:
    for path in FIXTURE_FILES:
        assert blocked(read_rdw(path.read_bytes())).data == path.read_bytes(), path
