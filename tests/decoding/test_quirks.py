"""What real records do against their description, and what becomes of it."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

from smfparse.decoding import Decoder, Needs
from smfparse.errors import DamageLog
from smfparse.limits import Limits
from smfparse.reading import Chunk
from smfparse.tables import wanted_tables
from tests.support.builders import (
    NOTHING,
    UTC_NOON,
    Section,
    chunk_of,
    foreign_record,
    named_block,
    qwhs_long,
    qwhs_short,
    smf_record,
    wtas,
)


def decoded(table: str, *chunks: Chunk) -> list[dict[str, Any]]:
    """Decode one table out of chunks of one source; nothing may be damaged."""
    damage = DamageLog()
    decoder = Decoder(Needs(wanted_tables([table])), damage, lambda: iter(chunks))
    rows = [row for _, batch in decoder.decode(chunks) for row in batch.to_pylist()]
    assert damage.count == 0
    return rows


def with_bytes(data: bytes, *puts: tuple[int, bytes]) -> bytes:
    """Return `data` with bytes put at offsets."""
    changed = bytearray(data)
    for offset, new in puts:
        changed[offset : offset + len(new)] = new
    return bytes(changed)


def test_a_block_is_told_by_place_and_eye_catcher_never_by_its_id() -> None:
    for ident in (0xD30F, 0xD70F):  # IBM's constant, and what records carry
        record = smf_record(115, 215, Section([named_block("QPST", 104, ident)]), area=qwhs_long())
        assert len(decoded("qpst", chunk_of(record))) == 1


def test_buffer_pools_stand_in_115_2_before_8_0_and_in_215_since() -> None:
    pools = Section([named_block("QPST", 104)] * 2)
    old = smf_record(115, 2, NOTHING, NOTHING, pools, area=qwhs_long(), release="710")
    new = smf_record(115, 215, pools, area=qwhs_long())
    rows = decoded("qpst", chunk_of(old, new, old))
    assert [(row["record_no"], row["block_no"]) for row in rows] == [
        (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2),
    ]  # fmt: skip


def test_used_slots_of_qest_are_told_by_the_first_byte_of_their_name() -> None:
    block = with_bytes(
        named_block("QEST", 4104),
        (8 + 64 * 2, "CSQ_ADMIN".encode("cp500").ljust(12, b"\x40")),
        (8 + 64 * 5, b"\x40" * 12),
        (8 + 64 * 6 + 16, struct.pack(">I", 7)),  # counters, but no name
        (8 + 64 * 63, "APPLICATION1".encode("cp500")),
    )
    record = smf_record(115, 2, *[NOTHING] * 5, Section([block]), area=qwhs_long())
    rows = decoded("qest", chunk_of(record))
    assert [(row["slot"], row["qeststr"]) for row in rows] == [
        (2, "CSQ_ADMIN"), (63, "APPLICATION1"),
    ]  # fmt: skip


def test_latch_waits_in_the_high_word_are_the_same_as_in_the_low_word() -> None:
    block = with_bytes(
        wtas(None, None),
        (48 + 8 * 10, struct.pack(">II", 55 * 4096, 0)),  # class 11, as MQ 10.0.0 writes it
        (48 + 8 * 11, struct.pack(">Q", 55 * 4096)),  # class 12, as described
        (304 + 4 * 10, struct.pack(">I", 1)),
        (304 + 4 * 11, struct.pack(">I", 1)),
        (2088 + 8 * 10, struct.pack(">Q", 55 * 4096)),
        (2088 + 8 * 11, struct.pack(">Q", 55 * 4096)),
        (452, struct.pack(">II", 55 * 4096, 0)),
        (460, struct.pack(">I", 11)),
    )
    record = smf_record(116, 1, NOTHING, Section([block]), area=qwhs_short())
    rows = decoded("wtas_latch", chunk_of(record))
    assert [(row["latch"], row["wtaslwn"], row["wtaslwet"], row["wtaslmax"]) for row in rows] == [
        (11, 1, 55.0, 55.0), (12, 1, 55.0, 55.0),
    ]  # fmt: skip
    (task,) = decoded("wtas", chunk_of(record))
    assert task["wtasmlw"] == 55.0
    assert task["wtasmlwn_text"] == "DMCSEG: queue serialisation"


def test_sums_of_squares_are_128_bit_numbers_and_keep_their_words() -> None:
    block = with_bytes(named_block("QJST", 720), (560, struct.pack(">QQ", 3, 7)))
    record = smf_record(115, 1, *[NOTHING] * 10, Section([block]), area=qwhs_long())
    (row,) = decoded("qjst", chunk_of(record))
    assert (row["qjstiosqu_1"], row["qjstiosqu_2"]) == (3, 7)
    assert row["qjstiosqu"] == Decimal(3 * 2**64 + 7)


def test_unset_minima_are_null() -> None:
    block = with_bytes(
        named_block("WQST", 2800),
        (8, struct.pack(">I", 9)),
        (528, struct.pack(">I", 0x0FFFFFFF)),
        (536, struct.pack(">I", 0)),
    )
    record = smf_record(116, 1, NOTHING, NOTHING, Section([block]), area=qwhs_short())
    (row,) = decoded("wqst", chunk_of(record))
    assert (row["getminms"], row["putminms"]) == (None, 0)
    channel = with_bytes(
        named_block("QCST", 324),
        (184, bytes.fromhex("8FFFFFFF")),
        (208, bytes.fromhex("0FFFFFFF")),
        (37, b"\x03"),
        (39, b"\xff"),
    )
    (row,) = decoded("qcst", chunk_of(smf_record(116, 10, Section([channel]), area=qwhs_long())))
    assert (row["qcstetmn"], row["qcstntmn"]) == (None, 0x0FFFFFFF)
    assert (row["qcstchty"], row["qcstchty_text"]) == (3, "Receiver")
    assert (row["qcststcl"], row["qcststcl_text"]) == (255, "None")
    queue = with_bytes(named_block("QQST", 84), (60, b"\xff\xff\xff\xff"), (56, b"\xa0\0\0\0"))
    (row,) = decoded("qqst", chunk_of(smf_record(115, 216, Section([queue]), area=qwhs_long())))
    assert (row["qqstpsid"], row["qqstbpid"]) == (None, None)
    assert (row["qqstdisp"], row["qqstpart"], row["qqstuncm"]) == (True, False, True)


def test_channel_times_with_a_zero_low_word_are_as_they_are() -> None:
    whole = UTC_NOON.replace(microsecond=0)
    units = (0x7D91048BCA000000 + (int(whole.timestamp() * 1_000_000) << 12)) & ~0xFFFFFFFF
    channel = with_bytes(named_block("QCST", 324), (88, struct.pack(">Q", units)))
    (row,) = decoded("qcst", chunk_of(smf_record(116, 10, Section([channel]), area=qwhs_long())))
    assert dt.timedelta(0) <= whole - row["qcststrt"] < dt.timedelta(seconds=1.048576)
    assert row["qcstludt"] is None


def wqst(token: bytes) -> bytes:
    return with_bytes(named_block("WQST", 2800), (8, struct.pack(">I", 9)), (16, token))


def test_many_small_records_are_given_before_they_fill_the_memory() -> None:
    chunks = [chunk_of(*[foreign_record(30)] * 50, first=1 + 50 * number) for number in range(6)]
    limits = Limits(epoch_cells=1000)
    decoder = Decoder(Needs(wanted_tables(["record"])), DamageLog(), limits=limits)
    batches = [batch.num_rows for _, batch in decoder.decode(chunks)]
    assert batches == [50] * 6
