"""Requests of queue managers to coupling facility structures."""

from __future__ import annotations

import numpy as np

from smfparse.schemas import QEST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.synthetic import Rows, encoded

_OWN_ENTRIES, _OWN_ELEMENTS = 40, 90
_ELEMENT_BYTES = 256


def structure_rows(chunk: Chunk, reporters: Reporters, accounting: Accounting) -> Rows:
    """Return the blocks: an entry for each structure."""
    rows = Rows(QEST, chunk.plan.estate.version, len(reporters))
    of = np.array([each.structure for each in chunk.plan.estate.queues])
    for entry, name in enumerate(sorted({*of.tolist()} - {""})):
        _set_structure(rows, entry, name, of == name, chunk, reporters, accounting)
    return rows


def _set_structure(
    rows: Rows,
    entry: int,
    name: str,
    mine: np.ndarray,
    chunk: Chunk,
    reporters: Reporters,
    accounting: Accounting,
) -> None:
    """Set the requests to a structure, and what is in it; `mine` are the queues in it."""
    used, coupling = accounting.used, accounting.queues.coupling
    single, several, took = (
        reporters.summed(np.where(mine[used.queue], values, 0), used.time, used.manager)
        for values in (coupling.single, coupling.several, coupling.took)
    )
    depth = chunk.did["depth_most"][:, mine]
    elements = np.ceil(chunk.plan.queue_size[mine] / _ELEMENT_BYTES)
    share = single / np.maximum(single + several, 1)
    text = encoded(QEST.field("qeststr").kind, [name])
    rows.set_bytes("qeststr", np.repeat(text, len(rows), axis=0), entry)
    for field, values in {
        "qeststrn": np.full(len(rows), entry + 1),
        "qestcsec": single,
        "qestcmec": several,
        "qestsstc": took * share,
        "qestmstc": took * (1 - share),
        "qestmnus": depth.sum(axis=1)[reporters.time] + _OWN_ENTRIES,
        "qestmlus": (depth @ elements)[reporters.time] + _OWN_ELEMENTS,
    }.items():
        rows.set(field, values, entry)
