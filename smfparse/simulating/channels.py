"""Channel accounting (116/10): a row for each instance that runs at the end of an interval."""

from __future__ import annotations

import numpy as np

from smfparse.schemas import QCST
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.chunk import Chunk, Columns, Reporters
from smfparse.simulating.declaration import CHANNEL_TYPES
from smfparse.simulating.instances import CLIENT, Instances
from smfparse.synthetic import NEVER, Floats, Ints, Rows, encoded

_INWARD = (CHANNEL_TYPES["receiver"], CHANNEL_TYPES["cluster-receiver"], CLIENT)
_RUNNING, _PRIVATE, _MEDIUM, _BATCH_KB = 3, 4, 33, 5000
_HEADER, _CONTROL = 476, 28
"""Bytes that a message has besides its data on a channel, and that a batch takes."""
_UNSET = 0x8FFFFFFF
_CALLS = 3
"""Calls of a client for a message."""
_LATER, _SINCE = 120_000, 900_000


def channel_records(
    chunk: Chunk, reporters: Reporters, accounting: Accounting, instances: Instances
) -> tuple[Rows, Ints]:
    """Return the blocks, and how many each queue manager and interval has."""
    mine = np.flatnonzero(~instances.brief)
    estate, tasks = chunk.plan.estate, accounting.tasks
    rows = Rows(QCST, estate.version, len(mine))
    columns = {**_described(instances), **_moved(instances), **_network(chunk, instances)}
    rows.set_all({name: values[mine] for name, values in columns.items()})
    for field, words in (
        ("qcstchnm", [each.shown for each in estate.channels]),
        ("qcstcnnm", [each.connection for each in estate.channels]),
        ("qcstrqmn", [each.partner for each in estate.channels]),
    ):
        rows.set_bytes(field, encoded(QCST.field(field).kind, words)[instances.channel[mine]])
    end, task = reporters.end[instances.row[mine]], instances.task[mine]
    rows.set_clocks(
        {
            "qcstcltm": end + _LATER,
            "qcststrt": tasks.started[task],
            "qcstludt": np.where(tasks.ended[task], tasks.end[task], NEVER),
            "qcstlmst": end - _SINCE,
        }
    )
    return rows, np.bincount(instances.row[mine], minlength=len(reporters))


def _described(of: Instances) -> Columns:
    """Return what channels are."""
    rows, client = len(of.row), of.type == CLIENT
    return {
        "qcstchty": of.type,
        "qcstchst": np.full(rows, _RUNNING),
        "qcstchdp": np.full(rows, _PRIVATE),
        "qcststcl": np.full(rows, _MEDIUM),
        "qcstcbsz": np.where(client, 0, of.batch()),
        "qcstcbdl": np.where(client, 0, _BATCH_KB),
        "qcstcscv": np.where(client, of.of_channel("sharing"), 0),
        "qcstcpra": of.of_channel("compression"),
        "qcstslcs": of.of_channel("cipher"),
        "qcstdspn": of.dispatcher,
    }


def _batches(of: Instances) -> tuple[Ints, Ints]:
    """Return batches, and full ones: one is full if messages wait, else the queue is empty."""
    client, most = of.type == CLIENT, np.maximum(of.batch(), 1)
    usual = np.minimum(np.maximum(of.of_application("commit"), 1), most)
    size = np.where(of.backed_up(), most, usual)
    batches = np.where(client, 0, np.ceil(of.moved / size)).astype(np.int64)
    full = np.where(~client & (size == most), np.floor(of.moved / most), 0)
    return batches, np.minimum(full, batches).astype(np.int64)


def _moved(of: Instances) -> Columns:
    """Return messages, batches and bytes."""
    client, inward = of.type == CLIENT, np.isin(of.type, _INWARD)
    messages = np.where(client, of.moved * _CALLS, of.moved)
    batches, full = _batches(of)
    squeezed: Floats = 1 - of.of_channel("compression") / 100
    data = of.bytes * squeezed + of.moved * _HEADER
    control = _CONTROL * (batches + np.where(client, messages, 0))
    return {
        "qcstnmsg": messages,
        "qcstnpmg": np.minimum(of.lasting, messages),
        "qcstbatc": batches,
        "qcstfuba": full,
        "qcstbfst": np.where(inward, batches + client * messages, of.moved + batches),
        "qcstbfrc": np.where(inward, of.moved + batches, batches),
        "qcstnbyt": of.bytes,
        "qcstnpby": np.where(of.lasting > 0, of.bytes, 0),
        "qcstbyst": np.where(inward, control, data + control),
        "qcstbyrc": np.where(inward, data + control, control),
        "qcstqetc": np.where(inward, 0, batches - full),
    }


def _network(chunk: Chunk, of: Instances) -> Columns:
    """Return round trips; no exit runs."""
    client, trip = of.type == CLIENT, of.trip()
    longest = trip * (2 + chunk.draws("longest trips").uniform(len(trip)))
    return {
        "qcstetmn": np.full(len(trip), _UNSET),
        "qcstntmn": np.where(client, _UNSET, np.floor(trip * 0.8)),
        "qcstntav": np.where(client, 0, np.floor(trip)),
        "qcstntmx": np.where(client, 0, np.floor(longest)),
    }
