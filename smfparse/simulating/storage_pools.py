"""Statistics of buffer pools and page sets, and storage records: pools and modules that took it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.layout import Block
from smfparse.schemas import QIS1, QPST, QSGM, QSPH
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Cells, Chunk, Columns, Reporters, statistics_writers
from smfparse.simulating.costs import PAGES_A_WRITE
from smfparse.synthetic import Floats, RecordParts, Rows, big_endian, encoded

_ABOVE, _FIXED, _MAY_EXPAND = 0x80000000, 0x40000000, 0x80000000
_BY_SYSTEM, _AVAILABLE = 2, 0


def pool_records(chunk: Chunk, reporters: Reporters) -> Iterator[RecordParts]:
    """Return the records 115/201 and 115/215 of some intervals."""
    plan = chunk.plan
    for record, order, manager, make in (
        ((115, 201), 5, plan.set_manager, _page_sets),
        ((115, 215), 2, plan.pool_manager, _pool_rows),
    ):
        cells = Cells(reporters, manager)
        blocks = {1: (make(chunk, cells).raw, cells.count)}
        yield RecordParts(record, statistics_writers(reporters, order), blocks)


def _pool_rows(chunk: Chunk, cells: Cells) -> Rows:
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


_KB = 1024
_POOLS = (
    *(("CONNECTION CONTROL", 2600), ("OBJECT HANDLES", 420), ("MESSAGE BUFFERS", 5200)),
    *(("LOCKS", 900), ("UNITS OF WORK", 640), ("TOPIC TREE", 300)),
)
"""Pools, and how many KB each has without connections."""
_MODULES = (("CSQMCPRI", 96), ("CSQVEUS2", 48), ("CSQRLPR", 512), ("CSQP1GET", 160))
_CONNECTION_KB = 4


def storage_records(
    chunk: Chunk, reporters: Reporters, accounting: Accounting
) -> Iterator[RecordParts]:
    """Return the records 115/5 and 115/6 of some intervals."""
    tasks = accounting.tasks
    connected = reporters.summed(np.ones(len(tasks)), tasks.time, tasks.manager)
    pools, modules = _pools(chunk, reporters, connected), _modules(chunk, reporters)
    for record, order, rows, each in (
        ((115, 5), 6, pools, len(_POOLS)),
        ((115, 6), 7, modules, len(_MODULES)),
    ):
        blocks = {1: (rows.raw, np.full(len(reporters), each))}
        yield RecordParts(record, statistics_writers(reporters, order), blocks)


def _repeated(
    block: Block, chunk: Chunk, reporters: Reporters, name: str, words: list[str], columns: Columns
) -> Rows:
    rows = Rows(block, chunk.plan.estate.version, len(reporters) * len(words))
    rows.set_all(columns)
    text = encoded(block.field(name).kind, words)
    rows.set_bytes(name, np.tile(text, (len(reporters), 1)))
    return rows


def _pools(chunk: Chunk, reporters: Reporters, connected: Floats) -> Rows:
    """Return the pools: the first three grow with the connections."""
    words, base = [name for name, _ in _POOLS], [size for _, size in _POOLS]
    grows = np.array([1.0, 0.3, 2.0, 0.2, 0.2, 0.0])
    size = np.array(base) + connected[:, None] * grows * _CONNECTION_KB
    before = np.vstack([size[:1], size[:-1]])
    columns = {
        "qsphstor": np.floor(size).ravel() * _KB,
        "qsphostor": np.floor(before).ravel() * _KB,
        "qsphxstor": np.full(size.size, 64 * _KB),
        "qsphcount": np.ones(size.size),
    }
    return _repeated(QSPH, chunk, reporters, "qsphname", words, columns)


def _modules(chunk: Chunk, reporters: Reporters) -> Rows:
    """Return the modules that took storage."""
    words, size = [name for name, _ in _MODULES], [most for _, most in _MODULES]
    draws = chunk.draws("modules")
    rows = len(reporters) * len(words)
    requests = draws.below(rows, 12)
    columns = {
        "qsgmlvtot": np.tile(size, len(reporters)) * 40 * _KB,
        "qsgmlvnew": requests,
        "qsgmlvmax": np.tile(size, len(reporters)) * _KB,
        "qsgmlvmin": np.full(rows, 256),
        "qsgmcount": 40 + requests,
        "qsgmscls": np.tile(np.arange(len(words)) + 2, len(reporters)),
    }
    return _repeated(QSGM, chunk, reporters, "qsgmcsect", words, columns)
