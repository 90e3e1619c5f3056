"""Statistics of buffer pools and page sets: a row each and interval."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.schemas import QIS1, QPST
from smfparse.simulating.chunk import Cells, Chunk, Reporters, statistics_writers
from smfparse.simulating.costs import PAGES_A_WRITE
from smfparse.synthetic import Floats, RecordParts, Rows, big_endian

_ABOVE, _FIXED, _MAY_EXPAND = 0x80000000, 0x40000000, 0x80000000
_BY_SYSTEM, _AVAILABLE = 2, 0


def pool_records(chunk: Chunk, reporters: Reporters) -> Iterator[RecordParts]:
    """Return the records 115/201 and 115/215 of some intervals."""
    plan = chunk.plan
    for record, order, manager, make in (
        ((115, 201), 5, plan.set_manager, _page_sets),
        ((115, 215), 2, plan.pool_manager, _pools),
    ):
        cells = Cells(reporters, manager)
        blocks = {1: (make(chunk, cells).raw, cells.count)}
        yield RecordParts(record, statistics_writers(reporters, order), blocks)


def _pools(chunk: Chunk, cells: Cells) -> Rows:
    did, plan = chunk.did, chunk.plan
    at = (cells.time, cells.thing)
    pools = [pool for _, pool in plan.pools]
    immediate, behind, kept = (
        did[name][at] for name in ("pages_immediate", "pages_behind", "pages_kept")
    )
    flags = np.array([_ABOVE * pool.above + _FIXED * pool.fixed for pool in pools], np.int64)
    free = np.floor(did["buffers_free"][at])
    least = np.floor(did["buffers_least"][at])
    rows = Rows(QPST, plan.estate.version, len(cells.thing))
    rows.set_bytes("qpstflag", big_endian(flags[cells.thing], 4))
    rows.set_all(
        {
            "qpstpool": np.array([pool.number for pool in pools])[cells.thing],
            "qpstnbuf": plan.buffers[cells.thing],
            "qpstcbs": free,
            "qpstcbsl": np.minimum(least, free),
            "qpstgetp": did["pages_got"][at],
            "qpstgetn": did["pages_new"][at],
            "qpstrio": did["pages_read"][at],
            "qpststw": did["pages_new"][at] * 2,
            "qpsttpw": behind + immediate + kept,
            "qpstwio": np.ceil(behind / PAGES_A_WRITE) + immediate + kept,
            "qpstimw": immediate + kept,
            "qpstdwt": did["wrote_behind"][at],
            "qpstdmc": immediate,
            "qpstsos": did["pages_refused"][at],
            "qpststl": did["pages_read"][at],
        }
    )
    return rows


def _page_sets(chunk: Chunk, cells: Cells) -> Rows:
    did, plan = chunk.did, chunk.plan
    at, sets = (cells.time, cells.thing), [of for _, of in plan.page_sets]
    used = did["set_used"][at]
    behind, immediate, kept, read = (
        np.floor(_part_of_pool(chunk, name, cells))
        for name in ("pages_behind", "pages_immediate", "pages_kept", "pages_read")
    )
    io = np.array([of.io for of in sets])[cells.thing]
    page = np.array([of.page for of in sets])[cells.thing]
    writes, own = np.ceil(behind / PAGES_A_WRITE), immediate + kept
    rows = Rows(QIS1, plan.estate.version, len(cells.thing))
    rows.set_bytes("qis1flag", big_endian(np.full(len(rows), _MAY_EXPAND), 4))
    rows.set_all(
        {
            "qis1psno": np.array([of.number for of in sets])[cells.thing],
            "qis1bpno": np.array([of.pool for of in sets])[cells.thing],
            "qis1topg": did["set_pages"][at],
            "qis1unpg": did["set_pages"][at] - used,
            "qis1ppg": did["set_persistent"][at],
            "qis1nppg": did["set_plain"][at],
            "qis1pchi": used,
            "qis1dwpn": writes,
            "qis1dwpp": behind,
            "qis1dwpt": writes * io + behind * page,
            "qis1imwn": own,
            "qis1imwp": own,
            "qis1imwt": own * (io + page),
            "qis1ckpp": kept,
            "qis1getn": read,
            "qis1getp": read,
            "qis1gett": read * (io + page),
            "qis1expn": did["set_expanded"][at],
        }
    )
    for name, value in (("strn", 1), ("expm", _BY_SYSTEM), ("stat", _AVAILABLE)):
        rows.set(f"qis1{name}", value)
    return rows


def _part_of_pool(chunk: Chunk, name: str, cells: Cells) -> Floats:
    """Return the pages of a pool that belong to a page set: by what each holds."""
    did, plan = chunk.did, chunk.plan
    held = did["set_used"]
    total = np.zeros((chunk.times, len(plan.pools)))
    np.add.at(total.T, plan.set_pool, held.T)
    pool = plan.set_pool[cells.thing]
    share = held[cells.time, cells.thing] / np.maximum(total[cells.time, pool], 1)
    pages: Floats = did[name][cells.time, pool] * share
    return pages
