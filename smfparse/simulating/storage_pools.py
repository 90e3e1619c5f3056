"""Storage records: pools of a queue manager, and modules that took storage for themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.layout import Block
from smfparse.schemas import QSGM, QSPH
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Columns, Reporters, statistics_writers
from smfparse.synthetic import Floats, RecordParts, Rows, encoded

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
