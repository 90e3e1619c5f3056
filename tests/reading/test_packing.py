"""Packed files: what comes out is what went in, as far as it can be had."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import itertools
import lzma
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import DamageLog, InputError
from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.reading.chunks import WHOLE_SOURCE
from smfparse.reading.packing import packing_of, unpacked
from smfparse.reading.reader import plan, read_chunks
from smfparse.reading.streams import PackedFile
from tests.support.builders import put
from tests.support.paths import FIXTURES
from tests.support.reading import Reading
from tests.support.searching import LONG, search
from tests.support.sharing import cut
from tests.support.variants import zstd

DUMP = (FIXTURES / "qm01-930.smf").read_bytes()
SKIPPED = struct.pack("<II", 0x184D2A5E, 4) + b"note"
MIB = 1 << 20
File: TypeAlias = Callable[[bytes], Path]
"""Writes bytes to a file."""


def halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


class Pipe(io.BytesIO):
    """A file that cannot be sought, so that sizes are written behind the data."""

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise io.UnsupportedOperation


def zipped(
    data: bytes, method: int = zipfile.ZIP_DEFLATED, others: bool = False, piped: bool = False
) -> bytes:
    """A zip file with one file in it, `others`: besides what does not count."""
    made = Pipe() if piped else io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        if others:
            archive.mkdir("dumps")
        archive.writestr("dumps/dump.smf", data)
        if others:
            archive.writestr("__MACOSX/dumps/._dump.smf", b"who made it")
    return made.getvalue()


def fast_xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def raw_zstd(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip, two members": lambda data: b"".join(map(gzip.compress, halves(data))),
    "gzip, filled up": lambda data: gzip.compress(data) + bytes(512),
    "gzip, members filled up": lambda data: bytes(9).join(map(gzip.compress, halves(data))),
    "zstd": raw_zstd,
    "zstd, two frames": lambda data: b"".join(map(raw_zstd, halves(data))),
    "zstd, skippable frame first": lambda data: SKIPPED + raw_zstd(data),
    "zstd, skippable frame between": lambda data: SKIPPED.join(map(raw_zstd, halves(data))),
    "zstd, skippable frame last": lambda data: raw_zstd(data) + SKIPPED,
    "xz": fast_xz,
    "xz, two streams": lambda data: bytes(8).join(map(fast_xz, halves(data))),
    "bz2": lambda data: bz2.compress(data, 1),  # of blocks of 100,000 bytes
    "bz2, two streams": lambda data: b"".join(map(bz2.compress, halves(data))),
    "zip": zipped,
    "zip, stored": lambda data: zipped(data, zipfile.ZIP_STORED),
    "zip, bz2": lambda data: zipped(data, zipfile.ZIP_BZIP2),
    "zip, lzma": lambda data: zipped(data, zipfile.ZIP_LZMA),
    "zip, with a folder": lambda data: zipped(data, others=True),
    "zip, written to a pipe": lambda data: zipped(data, piped=True),
    "zip, stored to a pipe": lambda data: zipped(data, zipfile.ZIP_STORED, piped=True),
    "zip, lzma to a pipe": lambda data: zipped(data, zipfile.ZIP_LZMA, piped=True),
    "zip in gzip": lambda data: gzip.compress(zipped(data)),
    "zip to a pipe in gzip": lambda data: gzip.compress(zipped(data, piped=True)),
    "zip, bz2, in gzip": lambda data: gzip.compress(zipped(data, zipfile.ZIP_BZIP2)),
    "zip, lzma, in gzip": lambda data: gzip.compress(zipped(data, zipfile.ZIP_LZMA)),
    "zip, stored, in xz": lambda data: fast_xz(zipped(data, zipfile.ZIP_STORED)),
    "gzip in zip": lambda data: zipped(gzip.compress(data)),
    "zstd in gzip in zip in bz2": lambda data: bz2.compress(zipped(gzip.compress(raw_zstd(data)))),
}
ZIPS = ("zip", "zip, stored", "zip, bz2", "zip, lzma")
ALONE = ("gzip", "zstd", "xz", "bz2")


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size).translate(bytes(range(24)) * 10 + bytes(16))


def turned(data: bytes, at: int, size: int = 64) -> bytes:
    return data[:at] + bytes(0xFF ^ each for each in data[at : at + size]) + data[at + size :]


def read(path: Path, room: int = 100_000) -> tuple[bytes, str | None, tuple[str, ...]]:
    """Return what is in a file, why it ended early, and how it was packed."""
    found, buffer = bytearray(), memoryview(bytearray(room))
    with unpacked(path) as source:
        while got := source.readinto(buffer):
            found += buffer[:got]
        assert source.readinto(buffer) == 0
        return bytes(found), source.fault, source.packing


@pytest.fixture
def file(tmp_path: Path) -> File:
    def write(data: bytes) -> Path:
        return put(tmp_path / "input.smf", data)

    return write


@pytest.mark.sampled(9)
@pytest.mark.slow
@pytest.mark.parametrize("name", PACKERS)
def test_what_is_packed_comes_out(name: str, file: File) -> None:
    """And what comes before a cut."""
    first = name.replace(",", "").split()
    inner = [first[at + 1] for at, word in enumerate(first) if word == "in"]
    for size in (1, 1000, MIB + 1000):
        data = b"\x5e" + noise(size - 1)
        found, fault, kinds = read(file(PACKERS[name](data)))
        assert found == data
        assert fault is None
        assert list(kinds) == [*inner[::-1], first[0]]
    data = noise(30_000)
    whole = PACKERS[name](data)
    for end in range(20, len(whole) - 1, 997):
        found, fault, kinds = read(file(whole[:end]))
        assert not kinds or data.startswith(found)
        assert not kinds or fault is not None or found == data, end


def test_a_file_that_is_not_packed_is_given_as_it_is(file: File) -> None:
    """It has a size and can be sought, a packed one has not."""
    path = file(DUMP)
    assert read(path) == (DUMP, None, ())
    with unpacked(path) as source:
        assert (source.size, source.file and source.file.seek(10)) == (len(DUMP), 10)
    path = file(gzip.compress(DUMP))
    assert plan(path, 1000) == [WHOLE_SOURCE]
    with unpacked(path) as source:
        assert (source.size, source.file) == (None, None)


@pytest.mark.parametrize("name", ["gzip", "zip"])
def test_a_cut_leaves_all_that_can_be_unpacked(name: str, file: File) -> None:
    """What deflate holds up to there, and no byte less."""
    whole = PACKERS[name](noise(3 * MIB))
    start = 10 if name == "gzip" else 30 + len("dumps/dump.smf")
    for end in (start + 5000, len(whole) // 2, len(whole) - 200):
        expected = zlib.decompressobj(-15).decompress(whole[start:end])
        found, fault, _ = read(file(whole[:end]))
        assert found == expected
        assert fault == f"the {name} data is truncated"


LIBRARIES: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(31),
    "zstd": zstd.ZstdDecompressor,
    "xz": lzma.LZMADecompressor,
    "bz2": bz2.BZ2Decompressor,
}


def assert_read_up_to_the_fault(path: Path, name: str, broken: bytes) -> None:
    """Compare what is read with what a library makes of corrupt data before it finds out."""
    library, expected = LIBRARIES[name](), io.BytesIO()
    with suppress(lzma.LZMAError, zlib.error, zstd.ZstdError, OSError):
        for byte in broken:
            expected.write(library.decompress(bytes([byte])))
        raise AssertionError("it is not corrupt")
    found, fault, _ = read(path)
    assert found == expected.getvalue()
    assert f"the {name} data is corrupt: " in str(fault)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_what_comes_before_a_corrupt_place_comes_out(name: str, file: File) -> None:
    whole = PACKERS[name](noise(1_200_000 if LONG else 250_000))
    for place in (0.3, 0.9):
        broken = turned(whole, int(len(whole) * place))
        assert_read_up_to_the_fault(file(broken), name, broken)


@pytest.mark.parametrize("name", ["gzip", "xz", "bz2", *ZIPS])
def test_a_checksum_that_is_wrong_costs_no_byte(name: str, file: File) -> None:
    """The last record would be lost with it."""
    data = noise(100_000)
    whole = PACKERS[name](data)
    at = whole.rindex(b"PK\1\2") + 16 if name in ZIPS else len(whole) - (30 if name == "xz" else 8)
    found, fault, _ = read(file(turned(whole, at, 1)))
    assert found == data
    assert "data is corrupt" in str(fault)
    assert name not in ZIPS or fault == "the zip data is corrupt: the checksum is wrong"


@pytest.mark.slow
def test_a_corrupt_place_is_found_through_another_packing(file: File) -> None:
    data = noise(60_000)
    whole = gzip.compress(data)
    broken = turned(whole, len(whole) // 2)
    for packer in (zipped, raw_zstd, PACKERS["zip, stored"]):
        assert_read_up_to_the_fault(file(packer(broken)), "gzip", broken)
    for packer in (zipped, raw_zstd, bz2.compress):
        outer = gzip.compress(packer(data))
        found, fault, _ = read(file(turned(outer, len(outer) - 6, 1)))
        assert found == data
        assert "the gzip data is corrupt" in str(fault)


def all_members(data: bytes, library: Callable[[], Any]) -> bytes | None:
    """Return what is in members, perhaps with zeros between; None: something is wrong."""
    found = b""
    while data:
        one = library()
        try:
            found += one.decompress(data)
        except Exception:  # each library has errors of its own
            return None
        if not one.eof:
            return None
        data = one.unused_data.lstrip(b"\0")
    return found


@given(
    name=st.sampled_from(sorted(LIBRARIES)),
    cuts=st.lists(st.floats(0, 1), max_size=3),
    place=st.floats(0, 1),
    taken=st.sampled_from([0, 0, 1, 4, 100, MIB]),
    put=st.one_of(st.sampled_from([b"", bytes(4), bytes(100)]), st.binary(max_size=20)),
)
@search(80)
def test_whatever_is_done_to_members_those_before_come_out_and_loss_is_told(
    tmp_path: Path, name: str, cuts: list[float], place: float, taken: int, put: bytes
) -> None:
    data = DUMP[:12_000]
    ends = sorted(int(each * len(data)) for each in cuts)
    parts = [data[start:end] for start, end in itertools.pairwise([0, *ends, len(data)])]
    members = [PACKERS[name](each) for each in parts]
    whole = b"".join(members)
    at = int(place * len(whole))
    path = tmp_path / "input"
    path.write_bytes(damaged := whole[:at] + put + whole[at + taken :])
    found, fault, kinds = read(path)
    sound = all_members(damaged, LIBRARIES[name])
    if not kinds:
        return  # nothing shows any more that it is packed
    if sound is not None:
        assert (found, fault) == (sound, None)
        return
    behind = itertools.accumulate(map(len, members))
    safe = b"".join(part for part, end in zip(parts, behind, strict=True) if end <= at)
    assert found.startswith(safe)
    assert fault is not None


@pytest.mark.parametrize("name", ["zip", "zip, written to a pipe"])
def test_a_zip_file_without_its_directory_is_checked_too(name: str, file: File) -> None:
    whole = PACKERS[name](DUMP)
    whole = whole[: whole.rindex(b"PK\1\2")]
    found, fault, _ = read(file(whole))
    assert (found, fault) == (DUMP, "the zip data is truncated")
    found, fault, _ = read(file(turned(whole, 14 if name == "zip" else len(whole) - 12, 1)))
    assert (found, fault) == (DUMP, "the zip data is corrupt: the checksum is wrong")


@pytest.mark.parametrize("name", ALONE)
def test_something_behind_the_data_is_a_fault(name: str, file: File) -> None:
    for garbage in (b"\1", b"garbage behind", bytes(700_000) + b"\1"):
        found, fault, _ = read(file(PACKERS[name](DUMP) + garbage))
        assert found == DUMP
        assert fault == f"other bytes follow the {name} data; they were not used"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ALONE, "zip"])
def test_a_cut_file_gives_all_records_before_and_a_damage(name: str, file: File) -> None:
    whole = PACKERS[name](DUMP * 12)
    path = file(whole[: len(whole) * 3 // 4])
    data, fault, _ = read(path)
    found = Reading(path)
    assert found.offsets == Reading(file(data)).offsets != []
    last = found.damage[-1]
    assert (last.offset, last.length, last.reason) == (len(data), None, fault)


def several_files(count: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.mkdir("dumps")
        for number in range(count):
            archive.writestr(f"dump{number}.smf", DUMP)
    return made.getvalue()


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


TOO_LARGE = [{"id": lzma.FILTER_LZMA2, "dict_size": 320 * MIB}]
EMPTY = "the zip file is empty; name another file"
REFUSED: dict[str, tuple[bytes, str]] = {
    **{name: (PACKERS[name](b""), r"input\.smf: the file is empty") for name in (*ALONE, *ZIPS)},
    "nothing before a cut": (gzip.compress(DUMP)[:12], r"input\.smf: the gzip data is truncated"),
    "five packings": (
        functools.reduce(lambda data, _: gzip.compress(data), range(5), DUMP),
        r"input\.smf: compressed more than 4 times",
    ),
    "seven files": (
        several_files(7),
        r"a zip file of 7 files \(dump0.smf, .*dump4.smf, \.\.\.\); unpack it",
    ),
    "a folder": (several_files(0), EMPTY),
    "no file": (b"PK\5\6" + bytes(18), EMPTY),
    "encrypted": (changed(zipped(DUMP), 6, 1), r"input\.smf: the zip file is encrypted; unpack it"),
    "method": (changed(zipped(DUMP), 8, 9), "the zip file is compressed by method 9; unpack it"),
    "too large a dictionary": (
        lzma.compress(DUMP, filters=TOO_LARGE),
        r"xz data is corrupt: Memory usage limit exceeded",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_unpacked_is_refused_with_the_way_out(what: str, file: File) -> None:
    data, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        next(read_chunks(file(data), DamageLog()))


def test_of_a_packed_zip_file_of_several_files_the_first_is_used(file: File) -> None:
    found, fault, _ = read(file(gzip.compress(several_files(7))))
    assert found == DUMP
    assert fault == "the zip file contains more than one file; only the first file is used"


@pytest.mark.parametrize("name", ["zip", "zip, stored"])
def test_whatever_the_directory_of_a_zip_file_says_loss_is_told(name: str, file: File) -> None:
    """An offset that leads behind the file, before it or elsewhere costs no byte."""
    whole = PACKERS[name](DUMP)
    entry, end = whole.rindex(b"PK\1\2"), whole.rindex(b"PK\5\6")
    for at, value in ((entry + 42, 0x7FFFFFFF), (end + 16, 0x7FFFFFFF), (entry + 42, 9)):
        broken = whole[:at] + struct.pack("<I", value) + whole[at + 4 :]
        assert read(file(broken))[:2] == (DUMP, None)
    for at in range(entry, len(whole)):
        for bits in (0x01, 0x40, 0x80, 0xFF) if LONG else (0xFF >> at % 2 * 6,):
            with suppress(InputError):  # it seems to be empty
                found, fault, _ = read(file(changed(whole, at, whole[at] ^ bits)))
                assert found == DUMP or fault


RECORD = bytes.fromhex("200000005E4A000000000126141F").ljust(8192, b"\xe2")
"""A record that can be repeated for ever."""
BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "gzip in gzip": lambda data: gzip.compress(gzip.compress(data, 1)),
    "xz": fast_xz,
    "bz2": bz2.compress,
    "zstd": lambda data: zstd.compress(data, 3),
    "zeros that are skipped": lambda data: gzip.compress(
        gzip.compress(gzip.compress(data[:8192]) + bytes(len(data)), 1)
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
@pytest.mark.parametrize(
    "name", ["gzip in gzip", *(pytest.param(each, marks=pytest.mark.long) for each in [*BOMBS][1:])]
)
def test_a_bomb_ends_with_a_fault_and_little_memory(name: str, file: File) -> None:
    path = file(BOMBS[name](RECORD * 12_000))
    assert 1000 * path.stat().st_size < 12_000 * 8192
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from smfparse.reading.packing import unpacked\n"
        "buffer, total = memoryview(bytearray(1 << 20)), 0\n"
        "with unpacked(Path(sys.argv[1])) as source:\n"
        "    while got := source.readinto(buffer): total += got\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(total, re.search(r'VmHWM:\\s+(\\d+) kB', status)[1], source.fault)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    total, memory, fault = done.stdout.split(maxsplit=2)
    assert fault.startswith("expands more than 1,000-fold")
    assert int(total) < 70 * MIB
    assert int(memory) < 100_000


def test_a_bomb_gives_its_records_and_a_damage(file: File) -> None:
    limits = Limits(free_bytes=4 * MIB)
    for name in ("xz", "bz2", "zstd"):
        found = Reading(file(BOMBS[name](RECORD * 4000)), limits=limits)
        size = len(found.offsets) * 8192
        assert 4 * MIB <= size < 4000 * 8192
        assert found.damage[0].offset == size
        assert found.reasons[-1].startswith("expands more than 1,000-fold")


def test_a_file_that_can_be_read_no_more_is_an_error(file: File, monkeypatch: pytest.MonkeyPatch):
    def broken(packed: Any) -> Iterator[bytes]:
        packed.file.seek(0)
        yield packed.file.read(1000)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(PackedFile, "blocks", broken)
    refused = Reading(file(gzip.compress(noise(5000)))).refused
    assert str(refused).endswith("input.smf: Input/output error")


@pytest.mark.slow
def test_packed_files_are_decoded_by_several_processes(tmp_path: Path) -> None:
    """However small they are; one that is cut says so from there."""
    shared = ReadOptions(jobs=2, limits=Limits(least_unit=1))
    paths = []
    for number, name in enumerate(("gzip", "zstd", "zip", "xz")):
        paths.append(tmp_path / f"{number}.smf")
        paths[-1].write_bytes(PACKERS[name](DUMP)[: -20 if name == "gzip" else None])
    one, two = open_inputs(paths), open_inputs(paths, shared)
    assert len(cut(two, {"wtas": None})) > 1
    assert two.arrow("wtas").equals(one.arrow("wtas"))
    assert two.damage.details == one.damage.details
    assert sum("gzip data is truncated" in each.reason for each in two.damage.details) == 1


def test_magic_bytes_are_those_of_no_smf_record() -> None:
    """RDW, BDW, lengths of 4 bytes, and records without any of these."""
    time = bytes.fromhex("0083D5FF")
    lengths = map(bytes.fromhex, ("1F8B", "28B5", "504B", "425A", "5E2A", "FD37"))
    for length, code in itertools.product(lengths, range(4)):
        assert packing_of(length + bytes([code, 0, 0x5E, 0x73]) + time) is None
    for flag, kind in itertools.product(range(256), range(256)):
        assert packing_of(bytes([flag, kind]) + time + bytes.fromhex("0126141F")) is None
