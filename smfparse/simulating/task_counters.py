"""Generated tasks: their identity (WTID, and QWHC in class 1), and the counters of their blocks.

The identifier of a unit of work contains the TOD clock value of its start. The tokens of a task
depend on its adapter: they contain the region (CICS, IMS), a channel (channel initiator) or a
context (RRS). The counters of a task are derived from the counters of its queues. Durations are
microseconds, moments microseconds since 1970, in UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.kinds import Raw, Values
from smfparse.layout.members import version_key
from smfparse.layout.numbers import Packed
from smfparse.layout.texts import BLANK, Text
from smfparse.schemas import WTID
from smfparse.simulating.block_parts import (
    ACTIVE,
    ENDED,
    THREAD_BEHIND,
    WTAS_BEHIND,
    by_size,
    calls,
    task_places,
    units_of_work,
)
from smfparse.simulating.draws import (
    Columns,
    Draws,
    Floats,
    Ints,
    Rows,
    big_endian,
    clock,
    encoded,
    whole,
)
from smfparse.simulating.queue_counters import VERBS, elapsed
from smfparse.simulating.workload import (
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
_LATCHES = (12, 19, 21, 30)
_HIGH_WORD = 2.0**32
_FIRST_HIGH_WORD = (10,)
"""First MQ version that counts latch waits in the high word of their field."""
_LATCH_SHARE = 0.06


def task_rows(tasks: Tasks, spans: Spans, draws: Draws) -> Rows:
    """Return the WTID blocks of tasks: one row per task and interval."""
    rows = Rows(WTID, tasks.site.version, len(spans.begin))
    rows.set("wtidatyp", tasks.adapter)
    for name, words, which in (
        ("wtidccn", tasks.jobs, tasks.job),
        ("wtidopid", USERS, tasks.user),
        ("wtidtran", USERS, tasks.user),
        ("wtidchl", CHANNELS, tasks.channel),
        ("wtidchlc", ADDRESSES, tasks.partner),
    ):
        rows.set_texts(name, words, which)
    rows.set("wtidwtas", tasks.address + WTAS_BEHIND)
    chained = draws.chance(len(rows), 0.1)
    rows.set("wtidcbwd", np.where(chained, 0x60DA0000 + 0x10 * draws.below(len(rows), 4096), 0))
    _set_units_of_work(rows, tasks, spans, draws)
    _set_references(rows, tasks, draws)
    return rows


def _set_units_of_work(rows: Rows, tasks: Tasks, spans: Spans, draws: Draws) -> None:
    """Set the identifiers of the last unit of work, in the form of the transaction manager.

    A CICS, IMS or RRS task often begins a new unit of work; any other task has the identifier of
    its connect.
    """
    adapter = tasks.adapter
    lately = spans.begin + whole(spans.microseconds * draws.uniform(len(rows)))
    renewed = np.isin(adapter, TRANSACTIONAL)
    began = clock(np.where(renewed, lately, spans.started - 1 - spans.started % 37))
    number = np.where(renewed, 1 + draws.below(len(rows), 30), _FIRST_SEQUENCE)
    unit = units_of_work(began, number)
    network = np.zeros((len(rows), 16), np.uint8)
    network[:, :8] = BLANK[0]
    named = np.flatnonzero(adapter != BATCH)
    network[named, :8] = rows.get_bytes("wtidccn")[named]
    network[named, 8:] = began[named]
    counted = np.flatnonzero(adapter == IMS)
    network[counted, 8:12] = big_endian(draws.below(len(counted), 1 << 27), 4)
    network[counted, 12:] = big_endian(np.ones(len(counted), np.int64), 4)
    regions = np.flatnonzero(adapter == CICS)
    unit[regions, :8] = encoded(Text(8), [_NET])
    unit[regions, 8:16] = rows.get_bytes("wtidccn")[regions]
    rows.set_bytes("wtiduowi", unit)
    rows.set_bytes("wtidnid", network)
    rows.set_bytes("wtidacct", unit[regions, :22], where=regions)
    contexts = np.flatnonzero(adapter == RRS)
    context = np.hstack([began[contexts], draws.octets(len(contexts), 8)])
    context[:, 8:13] = 0
    rows.set_bytes("wtidctxt", context, where=contexts)


def _set_references(rows: Rows, tasks: Tasks, draws: Draws) -> None:
    """Set the thread cross-references: text, numbers and addresses in the form of the adapter."""
    adapter, task = tasks.adapter, tasks.number
    ims = np.flatnonzero(adapter == IMS)
    region = _digits(task[ims] % 10_000, 4)
    program = encoded(WTID.field("wtidccn").kind, _PROGRAMS)[task[ims] % len(_PROGRAMS)]
    rows.set_bytes("wtidcori", np.hstack([region, program]), where=ims)
    cics = np.flatnonzero(adapter == CICS)
    thread = big_endian(tasks.address[cics] + THREAD_BEHIND, 4)
    transaction = encoded(Text(4), _TRANSACTIONS)[draws.below(len(cics), len(_TRANSACTIONS))]
    number = Packed().encode(draws.below(len(cics), 10_000_000))
    rows.set_bytes("wtidcori", np.hstack([thread, transaction, number]), where=cics)
    channels = np.flatnonzero(adapter == CHINIT)
    place = 0x14000000 + 0x20 * (tasks.address[channels] * 37 % (1 << 19))
    mark = np.repeat(encoded(Text(4), [_CHANNEL_MARK]), len(channels), axis=0)
    pair = [big_endian(place, 4), mark, big_endian(place + _CHANNEL_STEP, 4)]
    rows.set_bytes("wtidcori", np.hstack(pair), where=channels)


def _digits(numbers: Ints, width: int) -> Raw:
    places = 10 ** np.arange(width - 1, -1, -1)
    digits: Raw = (0xF0 + numbers[:, None] // places % 10).astype(np.uint8)
    return digits


def summed(columns: Columns, owner: Ints, rows: int) -> Columns:
    """Return columns with the sums of values per owner; `rows` is the number of owners."""
    return {name: np.bincount(owner, values, rows) for name, values in columns.items()}


def task_columns(tasks: Tasks, queues: Columns, spans: Spans, draws: Draws) -> Columns:
    """Return the counters of WTAS blocks; `queues`: sums over the queues of each task."""
    rows = len(spans.begin)
    used = queues["putn"] + queues["put1n"] + queues["getn"]
    commits = whole(used * (0.1 + 0.2 * draws.uniform(rows)))
    logging = _logging(queues, commits, draws)
    lasting = tasks.lasting
    ended = np.where(lasting, 0, 1)
    return {
        **task_places(tasks.address),
        "wtaswqct": tasks.queues,
        "wtasflag": np.where(lasting, ACTIVE, ENDED),
        "wtascqf": tasks.first_block,
        "wtascqb": tasks.last_block,
        "wtasgpo": whole(used * 3 * draws.near(rows, 0.3)),
        "wtasgpn": whole((queues["putn"] + queues["put1n"]) * (1 + 0.2 * draws.uniform(rows))),
        "wtastpn": whole(used * 4),
        **_units_of_work(tasks, commits, ended, logging["wait"], draws),
        **_calls_elsewhere(tasks, draws),
        **{name: values for name, values in logging.items() if name != "wait"},
    }


def _logging(queues: Columns, commits: Ints, draws: Draws) -> Columns:
    """Return the columns of log writes and waits; "wait" is the time that commits wait."""
    rows = len(commits)
    written = queues["putjwn"] + queues["put1jwn"] + queues["getjwn"]
    waited = np.where(written > 0, commits, 0)
    wait_time = waited * (300 + 600 * draws.uniform(rows))
    suspended = wait_time * (1.01 + 0.02 * draws.uniform(rows))
    logged = queues["putpmsg"] * queues["putbytes"] / np.maximum(queues["validput"], 1)
    headers = written * (330 + 140 * draws.uniform(rows))
    return {
        "wait": suspended,
        "wtasjwn": written,
        "wtasjwet": queues["putjwet"] + queues["put1jwet"] + queues["getjwet"],
        "wtasjwb": np.minimum(whole(logged + headers), 2**32 - 1),
        "wtasjcn": queues["putjcn"] + queues["put1jcn"] + waited,
        "wtasjcet": queues["putjcet"] + queues["put1jcet"] + wait_time,
        "wtassusn": queues["putsusn"] + queues["put1susn"] + queues["getsusn"] + waited,
        "wtassuse": queues["putsuset"] + queues["put1suset"] + queues["getsuset"] + suspended,
    }


def _units_of_work(tasks: Tasks, commits: Ints, ended: Ints, wait: Values, draws: Draws) -> Columns:
    rows = len(commits)
    two_phase = np.isin(tasks.adapter, TRANSACTIONAL)
    prepared = np.where(two_phase, commits, 0)
    backouts = np.where(draws.chance(rows, 0.03), 1, 0) + ended * draws.below(rows, 2)
    commit = commits * (4 + 16 * draws.uniform(rows))
    prepare = prepared * (10 + 13 * draws.uniform(rows))
    backout = backouts * (13 + 14 * draws.uniform(rows))
    share = np.where(two_phase, 0.6 + 0.3 * draws.uniform(rows), 0)
    return {
        **calls("wtascm", commits, commit, elapsed(commit, draws) + wait * (1 - share)),
        **calls("wtaspr", prepared, prepare, elapsed(prepare, draws) + wait * share),
        **calls("wtasba", backouts, backout, backout * (2 + 0.3 * draws.uniform(rows))),
    }


def _calls_elsewhere(tasks: Tasks, draws: Draws) -> Columns:
    rows = len(tasks)
    channel = tasks.adapter == CHINIT
    counts = {
        "wtasot": (1 + draws.below(rows, 12), 12),
        "wtasct": (np.where(channel & draws.chance(rows, 0.3), draws.below(rows, 40), 0), 2),
        "wtassu": (np.where(draws.chance(rows, 0.02), 1 + draws.below(rows, 3), 0), 45),
        "wtasst": (np.where(draws.chance(rows, 0.01), 1, 0), 4),
    }
    columns: Columns = {}
    for name, (count, each) in counts.items():
        cpu_time = count * each * draws.near(rows, 0.5)
        columns |= calls(name, count, cpu_time, cpu_time * (1.01 + draws.uniform(rows)))
    return columns | _db2(tasks, draws)


def _db2(tasks: Tasks, draws: Draws) -> Columns:
    rows = len(tasks)
    shared = np.bincount(tasks.task[tasks.shared], minlength=rows) > 0
    asked = shared & draws.chance(rows, 0.4)
    requests = np.where(asked, 1 + draws.below(rows, 3), 0)
    longest = np.where(asked, 600 + 600 * draws.uniform(rows), 0)
    served = longest * (0.9 + 0.09 * draws.uniform(rows))
    factor = np.where(requests > 1, 1 + (requests - 1) * (0.4 + 0.5 * draws.uniform(rows)), 1)
    return {
        "wtasdbct": requests,
        "wtasdbet": longest * factor,
        "wtasdbes": served * factor,
        "wtasdbmt": longest,
        "wtasdbms": served,
    }


def set_latches(rows: Rows, version: str, draws: Draws) -> None:
    """Set latch waits of some tasks, of one latch class per task."""
    factor = _HIGH_WORD if version_key(version) >= _FIRST_HIGH_WORD else 1.0
    where = np.flatnonzero(draws.chance(len(rows), _LATCH_SHARE))
    which = draws.below(len(where), len(_LATCHES))
    waits = 1 + whole(draws.skewed(len(where), 2))
    longest = whole(draws.skewed(len(where), 40)) + 1
    several = longest * (1 + 0.3 * (waits - 1) * draws.near(len(where)))
    total = whole(np.where(waits > 1, several, longest))
    for number, latch in enumerate(_LATCHES):
        mine = which == number
        rows.set("wtaslwn", waits[mine], latch - 1, where=where[mine])
        rows.set("wtaslwet", total[mine] * factor, latch - 1, where=where[mine])
        rows.set("wtaslmax", longest[mine], latch - 1, where=where[mine])
    rows.set("wtasmlw", total * factor, where=where)
    rows.set("wtasmlwn", np.array(_LATCHES)[which], where=where)
    place = 0x10_0000_0000 + 0x40 * draws.below(len(where), 1 << 22)
    rows.set_bytes("wtaslown", big_endian(place, 8), where=where)


def class_1_columns(tasks: Tasks, queues: Columns) -> Columns:
    """Return the counters of QMAC blocks: puts and gets by size band, and CPU time."""
    owner, size, rows = tasks.task, tasks.size, len(tasks)
    spent = sum(queues[f"{verb}ct"] for verb in (*VERBS, "inq", "set", "cb"))
    return {
        **by_size("put", queues["putn"] + queues["put1n"], size, owner, rows),
        **by_size("get", queues["validget"], size, owner, rows),
        "qmaccput": np.bincount(owner, spent, rows),
    }


def processor_columns(spent: Floats, spans: Spans, draws: Draws) -> Columns:
    """Return the columns of CPU time used before the start, and before the end, of each task.

    spent  CPU time of the calls of each task
    """
    rows = len(spans.begin)
    spent = spent * (1.1 + draws.uniform(rows))
    before, before_srb = draws.skewed(rows, 4e7), draws.skewed(rows, 2e7)
    return {
        "qwacbjst": before,
        "qwacejst": before + spent,
        "qwacbsrb": before_srb,
        "qwacesrb": before_srb + spent * 0.4 * draws.uniform(rows),
        "qwaccomm": 1 + draws.below(rows, 3),
        "qwacback": draws.below(rows, 2),
    }
