"""The converter of support/variants.py itself, against bytes written by hand."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.paths import FIXTURE_FILES
from tests.support.variants import (
    BLOCK,
    BY_NAME,
    CODE_PAGES,
    LONGEST,
    PACKINGS,
    VARIANTS,
    Variant,
    blocked,
    blocks_of,
    ftp_record,
    padded,
    plausible,
    read,
    read_rdw,
    translated,
    translated_lines,
    with_garbage,
    with_line_ends,
    without_segment,
)

HEADER = bytes.fromhex("1E02005C62B50126141FD4E5F4C1")
"""The first record of a dump of IBM's, whole; of the second its first 14 bytes are like these."""
TASK = bytes.fromhex("5E73005C62B50126141FD4E5F4C1").ljust(0x480 - 4, b"\xff")
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)


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


@pytest.mark.parametrize(("size", "codes"), [(4 + 7 + 5, [[0, 1], [2]]), (4 + 7 + 4, [[0], [0]])])
def test_a_block_that_has_not_five_bytes_left_is_full(size: int, codes: list[list[int]]) -> None:
    found = blocks_of([b"ABC", b"DE"], size)
    assert [[each.code for each in block] for block in found] == codes


def test_a_null_segment_fills_the_rest_of_its_block() -> None:
    file = blocked([b"ABC", b"DE", b"F"], size=4 + 24, records=2)
    null = starts("000B 8000") + bytes(7), starts("0013 8000") + bytes(15)
    assert file.data == b"".join(
        [
            starts("0007 0000") + b"ABC" + starts("0006 0000") + b"DE" + null[0],
            starts("0005 0000") + b"F" + null[1],
        ]
    )
    assert file.spans == ((0, 7), (7, 13), (24, 29))


def test_a_long_record_goes_over_several_ftp_blocks() -> None:
    file = BY_NAME["ftp-block-short"].write([HEADER, TASK])
    first, second = file.data[17:1020], file.data[1020:]
    assert (first[:3], second[:3]) == (starts("00 03E8"), starts("80 0094"))
    assert first[3:] + second[3:] == TASK
    assert file.spans == ((0, 17), (17, 17 + 6 + len(TASK)))


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


@every_variant
@pytest.mark.parametrize("path", FIXTURE_FILES, ids=lambda path: path.name)
def test_what_was_written_is_read(variant: Variant, path: Path) -> None:
    bodies = read_rdw(path.read_bytes())
    assert all(map(plausible, bodies))
    file = variant.write(bodies)
    assert read(variant.framing, file.data) == bodies
    assert len(file.spans) == len(bodies)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(file.spans))


@every_variant
def test_the_longest_record_fits(variant: Variant) -> None:
    bodies = [HEADER, TASK.ljust(LONGEST, b"\xff"), HEADER]
    assert read(variant.framing, variant.write(bodies).data) == bodies


@every_variant
@pytest.mark.parametrize("size", [4, 7, 20])
def test_a_file_that_was_cut_is_not_sound(variant: Variant, size: int) -> None:
    data = variant.write([HEADER, TASK, TASK]).data[:-size]
    if variant.framing == "none":
        assert read("none", data) == [HEADER, TASK, TASK[:-size]]
    else:
        with pytest.raises(ValueError, match=r"says|no end|inside|half|no escape"):
            read(variant.framing, data)


@pytest.mark.parametrize("path", FIXTURE_FILES, ids=lambda path: path.name)
def test_fixtures_are_spanned_as_the_dump_program_does(path: Path) -> None:
    data = path.read_bytes()
    assert blocked(read_rdw(data)).data == data


@pytest.mark.parametrize(
    ("which", "kept"), [(0, [3, 2]), (1, [1, 2]), (2, [1, 3])], ids=["first", "middle", "last"]
)
def test_a_segment_gets_lost(which: int, kept: list[int]) -> None:
    body = bytes(range(1, 26))
    data = without_segment([body, b"ABC"], 4 + 16, 0, which, lambda _: b"")
    codes, at = [], 0
    while at < len(data):
        codes.append(data[at + 2])
        at += int.from_bytes(data[at : at + 2])
    assert codes == [*kept, 0]


def test_damage_is_where_it_was_asked_for() -> None:
    file = BY_NAME["length"].write([b"ABC", b"DE"])
    one, two = starts("00000003") + b"ABC", starts("00000002") + b"DE"
    assert with_line_ends(file) == one + b"\r\n" + two + b"\r\n"
    assert with_garbage(file, 1, b"?") == one + b"?" + two
    assert padded(file, 3) == one + two + bytes(3)


def test_ebcdic_becomes_ascii() -> None:
    text = "MQ01 5E^[]"
    assert translated(text.encode("cp037"), "cp037") == text.encode("ascii")
    assert translated(bytes.fromhex("D4D8F0F1405FADBD"), "cp1047") == b"MQ01 ^[]"
    file = BY_NAME["rdw"].write([text.encode("cp037"), b"\xf1"])
    assert translated_lines(file, "cp037") == text.encode("ascii") + b"\r\n1\r\n"


@pytest.mark.parametrize("code_page", CODE_PAGES)
def test_a_translation_mixes_up_no_bytes(code_page: str) -> None:
    assert len(set(translated(bytes(range(256)), code_page))) == 256


def test_what_was_packed_is_unpacked_by_others() -> None:
    data = FIXTURE_FILES[0].read_bytes()
    packed = {name: pack(data) for name, pack in PACKINGS.items()}
    assert packed["gzip"][:2] == starts("1F8B")
    assert packed["zstd"][:4] == starts("28B52FFD")
    assert packed["zip"][:4] == starts("504B0304")
    assert packed["xz"][:6] == starts("FD377A585A00")
    assert packed["bz2"][:3] == starts("425A68")
    unpacked = {
        "gzip": gzip.decompress(packed["gzip"]),
        "bz2": bz2.decompress(packed["bz2"]),
        "xz": lzma.decompress(packed["xz"]),
        "zip": zipfile.ZipFile(io.BytesIO(packed["zip"])).read("DUMP.smf"),
        "zstd": pa.CompressedInputStream(pa.BufferReader(packed["zstd"]), "zstd").read(),
    }
    assert unpacked == dict.fromkeys(sorted(PACKINGS), data)
