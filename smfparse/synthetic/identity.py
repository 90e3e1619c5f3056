"""Identities of the tasks of a synthetic file: names and tokens of WTID, and of QWHC in class 1.

Units of work carry the TOD clock of when they began. Which tokens a task has depends on what it
came through: CICS and IMS name their regions, the channel initiator a channel, RRS its context.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smfparse.layout import BLANK, ENCODING, Packed, Raw
from smfparse.schemas import QWHC, WTID
from smfparse.synthetic.draws import Draws, Ints, Rows, big_endian, clock, encoded, whole
from smfparse.synthetic.workload import (
    ADDRESSES,
    BATCH,
    CHANNELS,
    CHINIT,
    CICS,
    IMS,
    RRS,
    TRANSACTIONAL,
    USERS,
    Spans,
    Tasks,
)

_NET = "BANKNET1"
_PROGRAMS = ("BC1UDOC", "PAYMPP1", "LEDGMPP", "CARDBMP", "CLAIMPP2", "FXQUOTE")
_TRANSACTIONS = ("CKQC", "PAY1", "LGR2", "CRDA", "CLM7", "FXQ0", "CUST", "MQTR")
_CHANNEL_MARK = "XX**"
_CHANNEL_STEP = 0x2C0
_FIRST_SEQUENCE = 1


def task_rows(tasks: Tasks, spans: Spans, draws: Draws) -> Rows:
    """Return the identity of every task in each of some intervals."""
    times = len(spans.begin) // max(len(tasks.job), 1)
    rows = Rows(WTID, tasks.site.version, len(spans.begin))
    rows.set("wtidatyp", np.tile(tasks.adapter, times))
    for name, words, which in (
        ("wtidccn", tasks.jobs, tasks.job),
        ("wtidopid", USERS, tasks.user),
        ("wtidtran", USERS, tasks.user),
        ("wtidchl", CHANNELS, tasks.channel),
        ("wtidchlc", ADDRESSES, tasks.partner),
    ):
        rows.set_bytes(name, encoded(WTID.field(name).kind, words)[np.tile(which, times)])
    rows.set("wtidwtas", np.tile(tasks.address, times) + 0xD0)
    chained = draws.chance(len(rows), 0.1)
    rows.set("wtidcbwd", np.where(chained, 0x60DA0000 + 0x10 * draws.below(len(rows), 4096), 0))
    _set_units_of_work(rows, tasks, spans, draws)
    _set_references(rows, tasks, draws)
    return rows


def _set_units_of_work(rows: Rows, tasks: Tasks, spans: Spans, draws: Draws) -> None:
    """Set the identifiers that a transaction manager gives: of the last unit of work.

    A lasting CICS, IMS or RRS task begins new ones all the time, any other has the one with which
    it came.
    """
    adapter = np.tile(tasks.adapter, len(rows) // max(len(tasks.job), 1))
    lately = spans.begin + whole(spans.microseconds * draws.uniform(len(rows)))
    renewed = np.isin(adapter, TRANSACTIONAL)
    began = clock(np.where(renewed, lately, spans.started - 1 - spans.started % 37))
    unit = _blank(len(rows), 24)
    unit[:, 16:22] = began[:, :6]
    number = np.where(renewed, 1 + draws.below(len(rows), 30), _FIRST_SEQUENCE)
    unit[:, 22:] = big_endian(number, 2)
    network = _blank(len(rows), 16)
    network[:, 8:] = 0
    named = np.flatnonzero(adapter != BATCH)
    network[named, :8] = rows.get_bytes("wtidccn")[named]
    network[named, 8:] = began[named]
    counted = np.flatnonzero(adapter == IMS)
    network[counted, 8:12] = big_endian(draws.below(len(counted), 1 << 27), 4)
    network[counted, 12:] = big_endian(np.ones(len(counted), np.int64), 4)
    regions = np.flatnonzero(adapter == CICS)
    unit[regions, :8] = _text(_NET, 8)
    unit[regions, 8:16] = rows.get_bytes("wtidccn")[regions]
    rows.set_bytes("wtiduowi", unit)
    rows.set_bytes("wtidnid", network)
    rows.set_bytes("wtidacct", unit[regions, :22], where=regions)
    contexts = np.flatnonzero(adapter == RRS)
    context = np.hstack([began[contexts], draws.octets(len(contexts), 8)])
    context[:, 8:13] = 0
    rows.set_bytes("wtidctxt", context, where=contexts)


def _set_references(rows: Rows, tasks: Tasks, draws: Draws) -> None:
    """Set the thread cross-references: text, numbers and addresses, as the adapter has it."""
    times = len(rows) // max(len(tasks.job), 1)
    adapter, task = np.tile(tasks.adapter, times), np.tile(np.arange(len(tasks.job)), times)
    ims = np.flatnonzero(adapter == IMS)
    region = _digits(task[ims] % 10_000, 4)
    program = encoded(WTID.field("wtidccn").kind, _PROGRAMS)[task[ims] % len(_PROGRAMS)]
    rows.set_bytes("wtidcori", np.hstack([region, program]), where=ims)
    cics = np.flatnonzero(adapter == CICS)
    thread = big_endian(tasks.address[task[cics]] + 0x1A40, 4)
    transaction = _words(_TRANSACTIONS, 4)[draws.below(len(cics), len(_TRANSACTIONS))]
    number = Packed().encode(draws.below(len(cics), 10_000_000))
    rows.set_bytes("wtidcori", np.hstack([thread, transaction, number]), where=cics)
    channels = np.flatnonzero(adapter == CHINIT)
    place = 0x14000000 + 0x20 * (tasks.address[task[channels]] * 37 % (1 << 19))
    mark = np.broadcast_to(_text(_CHANNEL_MARK, 4), (len(channels), 4))
    pair = [big_endian(place, 4), mark, big_endian(place + _CHANNEL_STEP, 4)]
    rows.set_bytes("wtidcori", np.hstack(pair), where=channels)


def correlation(version: str, identities: Rows, which: Ints) -> Raw:
    """Return the QWHC areas of some tasks: their identities once more."""
    rows = Rows(QWHC, version, len(which), {"qwhclen": QWHC.size, "qwhctyp": 2})
    for target, source in (
        ("qwhcaid", "wtidtran"),
        ("qwhccv", "wtidcori"),
        ("qwhccn", "wtidccn"),
        ("qwhcopid", "wtidopid"),
        ("qwhcatyp", "wtidatyp"),
        ("qwhctokn", "wtidacct"),
        ("qwhcnid", "wtidnid"),
    ):
        rows.set_bytes(target, identities.get_bytes(source)[which])
    return rows.raw


def _blank(rows: int, width: int) -> Raw:
    return np.full((rows, width), BLANK[0], np.uint8)


def _text(word: str, width: int) -> Raw:
    return np.frombuffer(word.encode(ENCODING).ljust(width, BLANK), np.uint8)


def _words(words: Sequence[str], width: int) -> Raw:
    return np.stack([_text(word, width) for word in words])


def _digits(numbers: Ints, width: int) -> Raw:
    """Return numbers as EBCDIC digits, with leading zeros."""
    places = 10 ** np.arange(width - 1, -1, -1)
    digits: Raw = (0xF0 + numbers[:, None] // places % 10).astype(np.uint8)
    return digits
