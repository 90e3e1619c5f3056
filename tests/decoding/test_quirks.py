"""What real records do against their description, and what becomes of it."""

from __future__ import annotations

import datetime as dt
import itertools
import struct
from typing import Any

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.decoder import Decoder
from smfparse.decoding.matching import Needs
from smfparse.errors import DamageLog
from smfparse.limits import Limits
from tests.support import builders, smf


def decoded(table: str, *records: bytes) -> list[dict[str, Any]]:
    """Decode one table out of records of one source; nothing may be damaged."""
    damage, chunk = DamageLog(), builders.chunk_of(*records)
    decoder = Decoder(Needs(wanted_tables([table])), damage, lambda: iter([chunk]))
    rows = [row for _, batch in decoder.decode([chunk]) for row in batch.to_pylist()]
    assert damage.count == 0
    return rows


def with_bytes(data: bytes, puts: dict[int, bytes]) -> bytes:
    for offset, new in puts.items():
        data = data[:offset] + new + data[offset + len(new) :]
    return data


def test_a_block_is_told_by_place_and_eye_catcher_never_by_its_id() -> None:
    for ident in (0xD30F, 0xD70F):  # IBM's constant, and what records carry
        assert len(decoded("qpst", smf.record(builders.named_block("QPST", 104, ident)))) == 1


def test_buffer_pools_stand_in_115_2_before_8_0_and_in_215_since() -> None:
    pools = [smf.block("QPST")] * 2
    section = builders.Section(pools)
    old = builders.smf_record(115, 2, builders.NOTHING, builders.NOTHING, section, release="710")
    rows = decoded("qpst", old, smf.record(*pools), old)
    found = [(row["record_no"], row["block_no"]) for row in rows]
    assert found == [*itertools.product((1, 2, 3), (1, 2))]


def test_used_slots_of_qest_are_told_by_the_first_byte_of_their_name() -> None:
    puts = {
        8 + 64 * 2: builders.ebcdic("CSQ_ADMIN", 12),
        8 + 64 * 5: builders.ebcdic("", 12),
        8 + 64 * 6 + 16: b"\0\0\0\7",  # counters, but no name
        8 + 64 * 63: builders.ebcdic("APPLICATION1", 12),
    }
    rows = decoded("qest", smf.record(with_bytes(smf.block("QEST"), puts)))
    found = [(row["slot"], row["qeststr"]) for row in rows]
    assert found == [(2, "CSQ_ADMIN"), (63, "APPLICATION1")]


def test_latch_waits_in_the_high_word_are_the_same_as_in_the_low_word() -> None:
    """Class 11 is as MQ 10.0.0 writes it, class 12 as described."""
    high = struct.pack(">II", 55 * 4096, 0)
    task = smf.task(latches={11: (0, 1, 55), 12: (55, 1, 55)}, wtasmlwn=11)
    task = with_bytes(task, {48 + 8 * 10: high, 452: high})
    rows = decoded("wtas_latch", smf.task_record(task))
    found = [(row["latch"], row["wtaslwn"], row["wtaslwet"], row["wtaslmax"]) for row in rows]
    assert found == [(11, 1, 55.0, 55.0), (12, 1, 55.0, 55.0)]
    (row,) = decoded("wtas", smf.task_record(task))
    assert (row["wtasmlw"], row["wtasmlwn_text"]) == (55.0, "DMCSEG: queue serialisation")


def test_unset_minima_are_null() -> None:
    queue = smf.queue("Q", version=9, getminms=0x0FFFFFFF, putminms=0)
    (row,) = decoded("wqst", smf.task_record(smf.task(), queue))
    assert (row["getminms"], row["putminms"]) == (None, 0)
    unset = {"qcstetmn": 0x8FFFFFFF, "qcstntmn": 0x0FFFFFFF}
    channel = smf.block("QCST", 324, qcstchty=3, qcststcl=255, **unset)
    (row,) = decoded("qcst", smf.record(channel, of="QCST"))
    assert (row["qcstetmn"], row["qcstntmn"]) == (None, 0x0FFFFFFF)
    assert (row["qcstchty"], row["qcstchty_text"]) == (3, "Receiver")
    assert (row["qcststcl"], row["qcststcl_text"]) == (255, "None")
    depth = smf.block("QQST", qqstpsid=-1, qqstbpid=-1, qqstflag="QQSTDISP QQSTUNCM")
    (row,) = decoded("qqst", smf.record(depth, of="QQST"))
    assert (row["qqstpsid"], row["qqstbpid"]) == (None, None)
    assert (row["qqstdisp"], row["qqstpart"], row["qqstuncm"]) == (True, False, True)


def test_channel_times_with_a_zero_low_word_are_as_they_are() -> None:
    whole = builders.UTC_NOON.replace(microsecond=0)
    units = (0x7D91048BCA000000 + (int(whole.timestamp() * 1_000_000) << 12)) & ~0xFFFFFFFF
    channel = smf.block("QCST", 324, qcststrt=struct.pack(">Q", units))
    (row,) = decoded("qcst", smf.record(channel, of="QCST"))
    assert dt.timedelta(0) <= whole - row["qcststrt"] < dt.timedelta(seconds=1.048576)
    assert row["qcstludt"] is None


def test_many_small_records_are_given_before_they_fill_the_memory() -> None:
    records = [builders.foreign_record(30)] * 50
    chunks = [builders.chunk_of(*records, first=first) for first in range(1, 300, 50)]
    limits = Limits(epoch_cells=1000)
    decoder = Decoder(Needs(wanted_tables(["record"])), DamageLog(), limits=limits)
    assert [batch.num_rows for _, batch in decoder.decode(chunks)] == [50] * 6
