"""Invented tasks: their identity (WTID, and QWHC in class 1), and the counters of their blocks.

The identifier of a unit of work contains the TOD clock value of its start. The tokens of a task
depend on its adapter: they contain the region (CICS, IMS), a channel (channel initiator) or a
context (RRS). The counters of a task are derived from the counters of its queues. Costs follow
IBM's published figures: a put of 2 KB takes 4.5 us of CPU, a put of 64 KB 21 us. Durations are
microseconds, moments microseconds since 1970, in UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.layout.columns import version_key
from smfparse.layout.kinds import BLANK, Packed, Raw, Text, Values
from smfparse.schemas import WTID
from smfparse.simulating.block_parts import (
    ACTIVE,
    ENDED,
    NO_MESSAGE,
    THREAD_BEHIND,
    WTAS_BEHIND,
    by_size,
    calls,
    task_places,
    units_of_work,
)
from smfparse.simulating.draws import (
    NEVER,
    Bools,
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

VERBS = ("open", "close", "get", "put", "put1")


def queue_columns(tasks: Tasks, spans: Spans, load: Floats, draws: Draws) -> Columns:
    """Return the counters of queue blocks; `spans` and `load` have one value per queue block.

    Each queue block has at least one call, because an unused queue has no block.
    """
    rows = len(load)
    work = whole(spans.microseconds / US_PER_SECOND * tasks.rate * load)
    work = 1 + whole(work * (0.6 + 0.4 * draws.uniform(rows)))
    puts, single = tasks.puts, tasks.single
    put = np.where(puts & ~single, work, 0)
    put1 = np.where(puts & single, work, 0)
    got = np.where(tasks.gets, np.maximum(whole(work * draws.near(rows)), 1), 0)
    columns = _puts(tasks, put, put1, draws)
    columns |= _gets(tasks, got, draws)
    lasting = tasks.lasting[tasks.task]
    columns |= _handles(lasting, np.where(tasks.reopened, work, 0), draws)
    columns |= _others(tasks, got, draws)
    used = sum(columns[f"{verb}n"] for verb in ("open", "close", "get", "inq", "set", "cb"))
    columns["total_use"] = put + put1 + used
    columns["use_count"] = np.where(lasting, 1, 0)
    columns["maxqdpth"] = whole(draws.skewed(rows, 3, 5000))
    return columns


def _puts(tasks: Tasks, put: Ints, put1: Ints, draws: Draws) -> Columns:
    rows = len(put)
    size = tasks.size
    wrong = np.where(draws.chance(rows, 0.05), (put + put1) // 50, 0)
    valid = put + put1 - wrong
    cpu = (4 + size * 0.00027) * (0.9 + 0.4 * draws.uniform(rows))
    columns = _put_verb(tasks, "put", put, cpu, draws)
    columns |= _put_verb(tasks, "put1", put1, cpu * draws.near(rows) * 1.7, draws)
    columns |= {"validput": valid} | _sizes(tasks, "put", valid, draws)
    columns["putdsq"] = np.where(tasks.shared, valid, 0)
    columns["streamedn"] = np.where(tasks.streamed, valid, 0)
    columns["ngen"] = np.where(draws.chance(rows, 0.02), valid, 0)
    return columns


def _put_verb(tasks: Tasks, verb: str, count: Ints, cpu: Floats, draws: Draws) -> Columns:
    rows = len(count)
    persistent, shared = tasks.persistent, tasks.shared
    written = np.where(persistent & ~shared, count, 0)
    forced = np.where(tasks.forced, written, 0)
    forced_time = forced * (300 + 600 * draws.uniform(rows))
    write_time = written * 2.25 * draws.near(rows, 0.4)
    pages = np.where(shared, 0, whole(count * 0.5 * draws.uniform(rows)))
    page_time = pages * 3.0 * draws.near(rows, 0.3)
    suspended = forced_time * (1.01 + 0.03 * draws.uniform(rows))
    cpu_time = count * np.where(shared, cpu + 3.0, cpu)
    waited = suspended + write_time + page_time
    handed = whole(count * 0.6 * draws.uniform(rows))
    waits = {"jw": (written, write_time), "jc": (forced, forced_time)}
    waits |= {"sus": (forced, suspended), "ps": (pages, page_time)}
    return {
        **calls(verb, count, cpu_time, elapsed(cpu_time, draws) + waited, **waits),
        f"{verb}pmsg": np.where(persistent, count, 0),
        f"{verb}pwg": np.where(persistent, 0, handed),
    }


def elapsed(cpu_time: Values, draws: Draws) -> Floats:
    """Return elapsed times for CPU times, if tasks wait only for a processor."""
    elapsed: Floats = cpu_time * (1.003 + 0.2 * draws.uniform(len(cpu_time)) ** 2)
    return elapsed


def _gets(tasks: Tasks, got: Ints, draws: Draws) -> Columns:
    rows = len(got)
    size, persistent = tasks.size, tasks.persistent
    shared = tasks.shared
    empty = whole(got * 0.2 * draws.uniform(rows))
    browsed = np.where(draws.chance(rows, 0.1), whole(got * 0.4 * draws.uniform(rows)), 0)
    by_id = np.where(tasks.name % 2 == 1, got - browsed, 0)
    written = np.where(persistent & ~shared, got - browsed, 0)
    write_time = written * 2.25 * draws.near(rows, 0.4)
    pages = np.where(draws.chance(rows, 0.25) & ~shared, -(-got // 10), 0)
    cpu_time = (got * (3.5 + size * 0.0002) + empty * 1.5) * (0.9 + 0.4 * draws.uniform(rows))
    suspended = pages * (200 + 300 * draws.uniform(rows))
    took = elapsed(cpu_time, draws) + write_time + suspended
    waits = {
        "jw": (written, write_time),
        "ps": (pages, suspended * (0.9 + 0.09 * draws.uniform(rows))),
        "sus": (pages, suspended),
    }
    return {
        **calls("get", got + empty, cpu_time, took, **waits),
        "geterr": empty,
        "getbrwa": browsed,
        "gets": by_id,
        "geta": got + empty - browsed - by_id,
        "getepage": np.where(draws.chance(rows, 0.3) & (got > 0), 1 + draws.below(rows, 9), 0),
        "getsmsg": np.where(by_id > 0, whole(got * 3 * draws.uniform(rows)), 0),
        "getexmsg": np.where(draws.chance(rows, 0.02), got // 100, 0),
        "validget": got,
        "getdval": got - browsed,
        "getpmsg": np.where(persistent, got, 0),
    } | _latencies(got, draws) | _sizes(tasks, "get", got, draws)  # fmt: skip


def _latencies(got: Ints, draws: Draws) -> Columns:
    rows = len(got)
    mean = draws.skewed(rows, 2500, 2000)
    low, high = draws.uniform(rows), draws.uniform(rows)
    several = got > 1
    return {
        "totlatnt": got * mean,
        "maxlatnt": np.where(several, mean * (1 + 7 * high), np.where(got > 0, mean, 0)),
        "minlatnt": np.where(several, mean * low, np.where(got > 0, mean, 0)),
    }


def _sizes(tasks: Tasks, verb: str, messages: Ints, draws: Draws) -> Columns:
    rows = len(messages)
    mean, fixed = tasks.size, tasks.fixed
    total = np.where(fixed, messages * mean, whole(messages * mean * draws.near(rows, 0.05)))
    several = ~fixed & (messages > 1)
    low = np.where(several, whole(mean * (0.3 + 0.6 * draws.uniform(rows))), mean)
    high = np.where(several, whole(mean * (1.1 + 2 * draws.uniform(rows))) + 1, mean)
    alone = messages == 1
    return {
        f"{verb}bytes": total,
        f"{verb}minms": np.where(messages > 0, np.where(alone, total, low), NO_MESSAGE),
        f"{verb}maxms": np.where(messages > 0, np.where(alone, total, high), 0),
    }


def _handles(lasting: Bools, most: Ints, draws: Draws) -> Columns:
    """Return the columns of opens and closes: a brief task opens and closes each queue once.

    most  maximum number of opens of a lasting task; 0: the queue was opened in an earlier interval
    """
    rows = len(lasting)
    most = whole(most * (0.2 + 0.6 * draws.uniform(rows)))
    times = np.where(lasting, most, 1)
    cpu_time = times * (2 + 22 * draws.uniform(rows))
    closed = times * (1 + 14 * draws.uniform(rows))
    return {
        **calls("open", times, cpu_time, elapsed(cpu_time, draws)),
        **calls("close", times, closed, elapsed(closed, draws)),
    }


def handle_clocks(tasks: Tasks, columns: Columns, spans: Spans, draws: Draws) -> dict[str, Ints]:
    """Return the columns of times at which queues were last opened and closed."""
    rows = len(tasks.task)
    quarter = spans.microseconds / 4
    early = spans.begin + 150 + whole((quarter - 150) * draws.uniform(rows))
    late = spans.end - 150 - whole((quarter - 150) * draws.uniform(rows))
    kept = tasks.lasting[tasks.task] & (columns["openn"] == 0)
    before = spans.started + 300_000 + draws.below(rows, 600_000)
    return {
        "opentime": np.where(kept, before, early),
        "clostime": np.where(kept, NEVER, late),
    }


def _others(tasks: Tasks, got: Ints, draws: Draws) -> Columns:
    rows = len(got)
    served = (tasks.adapter[tasks.task] == CHINIT) & (got > 0)
    asked = ~tasks.puts & ~tasks.gets | draws.chance(rows, 0.25)
    counts = {
        "inq": np.where(asked, 1 + draws.below(rows, 5), 0),
        "set": np.where(draws.chance(rows, 0.02), 1 + draws.below(rows, 2), 0),
        "cb": np.where(served, 1 + draws.below(rows, 4), 0),
    }
    columns: Columns = {}
    for verb, count in counts.items():
        cpu_time = count * (2 + 4 * draws.uniform(rows))
        columns |= calls(verb, count, cpu_time, elapsed(cpu_time, draws))
    selected = served & draws.chance(rows, 0.1)
    columns["selcount"] = np.where(selected, got, 0)
    columns["selmaxln"] = np.where(selected, 20 + draws.below(rows, 200), 0)
    return columns


def set_coupling(rows: Rows, shared: Bools, columns: Columns, draws: Draws) -> None:
    """Set the coupling facility requests in blocks of shared queues."""
    where = np.flatnonzero(shared)
    for verb, requests in (("open", (0, 1)), ("close", (1,)), ("get", (3, 5)), ("put", (2,))):
        for request in requests:
            entry = 20 * VERBS.index(verb) + request
            count = columns[f"{verb}n"][where]
            asynchronous = whole(count * 0.1 * draws.uniform(len(count)))
            synchronous = count - asynchronous
            for name, values in {
                "cfcount": count,
                "cfsyncn": synchronous,
                "cfsyncet": synchronous * 8 * draws.near(len(count), 0.3),
                "cfasyncn": asynchronous,
                "cfasyncet": asynchronous * 60 * draws.near(len(count), 0.3),
            }.items():
                rows.set(name, values, entry, where=where)


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

    A CICS, IMS or RRS task has a recent unit of work; other tasks have that of their connect.
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
    """Set the latch waits of some tasks; each of these tasks waits for one latch class."""
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
    """Return the columns of accumulated CPU time at the start and at the end of each task.

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
