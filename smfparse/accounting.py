"""What tasks and their queues count in a synthetic file: the class 1 and class 3 records.

A task's counters come from its queues. Costs follow IBM's published figures: a put of 2 KB takes
4.5 us of CPU, one of 64 KB 21 us. Durations are microseconds, moments microseconds since 1970, in
UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.fields import Values
from smfparse.layout import version_key
from smfparse.synthesis import NEVER, Bools, Columns, Draws, Floats, Ints, Rows, whole
from smfparse.workload import SECOND, Spans, Tasks

_NO_MESSAGE = 0x0FFFFFFF
_VERBS = ("open", "close", "get", "put", "put1")
_LATCHES = (12, 19, 21, 30)
_HIGH_WORD = 2.0**32
_FIRST_HIGH_WORD = (10,)
"""From this MQ version latch waits stand in the high word of their field."""
_ACTIVE, _ENDED = 0x00800000, 0x20800000
_SIZE_BANDS = (100, 1000, 10_000)


def queue_columns(tasks: Tasks, spans: Spans, load: Floats, draws: Draws) -> Columns:
    """Return what the queue blocks count; `spans` and `load` have a value a queue."""
    times = len(load) // max(len(tasks.task), 1)
    rows = len(load)
    calls = whole(spans.microseconds / SECOND * np.tile(tasks.rate, times) * load)
    calls = whole(calls * (0.6 + 0.4 * draws.uniform(rows)))
    puts, single = np.tile(tasks.puts, times), np.tile(tasks.single, times)
    put = np.where(puts & ~single, calls, 0)
    put1 = np.where(puts & single, calls, 0)
    got = np.where(np.tile(tasks.gets, times), calls, 0)
    columns = _puts(tasks, times, put, put1, draws)
    columns |= _gets(tasks, times, got, draws)
    lasting = np.tile(tasks.lasting[tasks.task], times)
    columns |= _handles(lasting, spans, draws)
    columns["inqn"] = np.where(draws.chance(rows, 0.05), 1 + draws.below(rows, 5), 0)
    columns["inqct"] = columns["inqn"] * 3.0
    columns["inqet"] = columns["inqn"] * 3.2
    columns["total_use"] = put + put1 + columns["getn"] + columns["openn"]
    columns["maxqdpth"] = whole(draws.skewed(rows, 3, 5000))
    return columns


def _puts(tasks: Tasks, times: int, put: Ints, put1: Ints, draws: Draws) -> Columns:
    rows = len(put)
    size = np.tile(tasks.size, times)
    wrong = np.where(draws.chance(rows, 0.05), (put + put1) // 50, 0)
    valid = put + put1 - wrong
    cpu = (4 + size * 0.00027) * (0.9 + 0.4 * draws.uniform(rows))
    columns = _put_verb(tasks, times, "put", put, cpu, draws)
    columns |= _put_verb(tasks, times, "put1", put1, cpu * 1.7, draws)
    columns |= {"validput": valid, "putbytes": valid * size}
    columns |= _sizes("put", valid, size, draws)
    columns["putdsq"] = np.where(np.tile(tasks.shared, times), valid, 0)
    columns["streamedn"] = np.where(np.tile(tasks.streamed, times), valid, 0)
    return columns


def _put_verb(
    tasks: Tasks, times: int, verb: str, calls: Ints, cpu: Floats, draws: Draws
) -> Columns:
    persistent, shared = np.tile(tasks.persistent, times), np.tile(tasks.shared, times)
    written = np.where(persistent & ~shared, calls, 0)
    forced = np.where(np.tile(tasks.forced, times), written, 0)
    forced_time = forced * (300 + 600 * draws.uniform(len(calls)))
    write_time = written * 2.25
    pages = np.where(shared, 0, calls // 4)
    suspended = forced_time * 1.02
    cpu_time = calls * np.where(shared, cpu + 3.0, cpu)
    return {
        f"{verb}n": calls,
        f"{verb}ct": cpu_time,
        f"{verb}et": cpu_time * 1.1 + suspended + write_time + pages * 3.0,
        f"{verb}jwn": written,
        f"{verb}jwet": write_time,
        f"{verb}jcn": forced,
        f"{verb}jcet": forced_time,
        f"{verb}susn": forced,
        f"{verb}suset": suspended,
        f"{verb}psn": pages,
        f"{verb}pset": pages * 3.0,
        f"{verb}pmsg": np.where(persistent, calls, 0),
        f"{verb}pwg": np.where(persistent, 0, calls // 3),
    }


def _gets(tasks: Tasks, times: int, got: Ints, draws: Draws) -> Columns:
    rows = len(got)
    size, persistent = np.tile(tasks.size, times), np.tile(tasks.persistent, times)
    shared = np.tile(tasks.shared, times)
    empty = whole(got * 0.2 * draws.uniform(rows))
    browsed = np.where(draws.chance(rows, 0.1), got // 4, 0)
    by_id = np.where(np.tile(tasks.name % 2 == 1, times), got - browsed, 0)
    written = np.where(persistent & ~shared, got - browsed, 0)
    pages = np.where(draws.chance(rows, 0.1) & ~shared, got // 10, 0)
    cpu_time = (got * (3.5 + size * 0.0002) + empty * 1.5) * (0.9 + 0.4 * draws.uniform(rows))
    suspended = pages * (200 + 300 * draws.uniform(rows))
    mean = draws.skewed(rows, 2500, 2000)
    low, high = draws.uniform(rows), draws.uniform(rows)
    several = got > 1
    return {
        "getn": got + empty,
        "geterr": empty,
        "getbrwa": browsed,
        "gets": by_id,
        "geta": got + empty - browsed - by_id,
        "getct": cpu_time,
        "getet": cpu_time * 1.1 + written * 2.25 + suspended,
        "getjwn": written,
        "getjwet": written * 2.25,
        "getpsn": pages,
        "getpset": suspended * 0.98,
        "getsusn": pages,
        "getsuset": suspended,
        "getsmsg": np.where(by_id > 0, whole(got * 3 * low), 0),
        "getexmsg": np.where(draws.chance(rows, 0.02), got // 100, 0),
        "validget": got,
        "getdval": got - browsed,
        "getbytes": got * size,
        "getpmsg": np.where(persistent, got, 0),
        "totlatnt": got * mean,
        "maxlatnt": np.where(several, mean * (1 + 7 * high), np.where(got > 0, mean, 0)),
        "minlatnt": np.where(several, mean * low, np.where(got > 0, mean, 0)),
    } | _sizes("get", got, size, draws)


def _sizes(verb: str, messages: Ints, mean: Ints, draws: Draws) -> Columns:
    """Return the smallest and largest of some messages."""
    rows = len(messages)
    low = np.where(messages > 1, whole(mean * (0.3 + 0.7 * draws.uniform(rows))), mean)
    high = np.where(messages > 1, whole(mean * (1 + 2 * draws.uniform(rows))), mean)
    return {
        f"{verb}minms": np.where(messages > 0, low, _NO_MESSAGE),
        f"{verb}maxms": np.where(messages > 0, high, 0),
    }


def _handles(lasting: Bools, spans: Spans, draws: Draws) -> Columns:
    """Open and close once in a task that comes and goes; a lasting one has its queues open."""
    rows = len(lasting)
    calls = np.where(lasting, 0, 1)
    cpu_time = calls * (2 + 22 * draws.uniform(rows))
    opened = np.where(lasting, spans.started + 300_000, spans.begin + 150)
    return {
        "openn": calls,
        "openct": cpu_time,
        "openet": cpu_time * 1.05,
        "closen": calls,
        "closect": cpu_time * 0.6,
        "closeet": cpu_time * 0.63,
        "opentime": opened,
        "clostime": np.where(lasting, NEVER, spans.end - 150),
    }


def set_coupling(rows: Rows, shared: Bools, columns: Columns, draws: Draws) -> None:
    """Set the coupling facility requests of queues: none but for shared ones."""
    for verb, requests in (("open", (0, 1)), ("close", (1,)), ("get", (3, 5)), ("put", (2,))):
        for request in requests:
            entry = 20 * _VERBS.index(verb) + request
            count = np.where(shared, columns[f"{verb}n"], 0)
            asynchronous = whole(count * 0.1 * draws.uniform(len(count)))
            rows.set("cfcount", count, entry)
            rows.set("cfsyncn", count - asynchronous, entry)
            rows.set("cfsyncet", (count - asynchronous) * 8.0, entry)
            rows.set("cfasyncn", asynchronous, entry)
            rows.set("cfasyncet", asynchronous * 60.0, entry)


def summed(columns: Columns, owner: Ints, rows: int) -> Columns:
    """Add columns up by owner."""
    return {name: np.bincount(owner, values, rows) for name, values in columns.items()}


def task_columns(queues: Columns, spans: Spans, lasting: Bools, draws: Draws) -> Columns:
    """Return what the task blocks count, given the sums over each task's queues."""
    rows = len(lasting)
    calls = queues["putn"] + queues["put1n"] + queues["getn"]
    commits = whole(calls / 5)
    written = queues["putjwn"] + queues["put1jwn"] + queues["getjwn"]
    write_time = queues["putjwet"] + queues["put1jwet"] + queues["getjwet"]
    waited = np.where(written > 0, commits, 0)
    wait_time = waited * (300 + 600 * draws.uniform(rows))
    forced = queues["putjcn"] + queues["put1jcn"]
    forced_time = queues["putjcet"] + queues["put1jcet"]
    suspended = queues["putsuset"] + queues["put1suset"] + queues["getsuset"]
    others = np.where(draws.chance(rows, 0.6), 1 + draws.below(rows, 4), 0)
    logged = queues["putpmsg"] * queues["putbytes"] / np.maximum(queues["validput"], 1)
    return {
        "wtasstrt": spans.started,
        "wtasints": spans.begin,
        "wtasinte": spans.end,
        "wtasflag": np.where(lasting, _ACTIVE, _ENDED),
        "wtasotn": others,
        "wtasotct": others * 12.0,
        "wtasotet": others * 31.0,
        "wtascmn": commits,
        "wtascmct": commits * 5.5,
        "wtascmet": commits * 6.5 + wait_time * 1.02,
        "wtasban": np.where(draws.chance(rows, 0.03), 1, 0),
        "wtasjwn": written,
        "wtasjwet": write_time,
        "wtasjwb": np.minimum(whole(logged + 400 * written), 2**32 - 1),
        "wtasjcn": forced + waited,
        "wtasjcet": forced_time + wait_time,
        "wtassusn": queues["putsusn"] + queues["put1susn"] + queues["getsusn"] + waited,
        "wtassuse": suspended + wait_time * 1.02,
        "wtasgpo": whole(calls * 3),
        "wtasgpn": whole((queues["putn"] + queues["put1n"]) * 1.1),
    }


def set_latches(rows: Rows, version: str, draws: Draws) -> None:
    """Set latch waits of some tasks: one class each, for the worst class is what a task shows."""
    factor = _HIGH_WORD if version_key(version) >= _FIRST_HIGH_WORD else 1.0
    which = draws.below(len(rows), len(_LATCHES))
    waited = draws.chance(len(rows), 0.15)
    waits = np.where(waited, 1 + whole(draws.skewed(len(rows), 2)), 0)
    longest = np.where(waited, whole(draws.skewed(len(rows), 40)) + 1, 0)
    total: Values = np.where(waits > 1, longest * (1 + 0.3 * (waits - 1)), longest)
    for number, latch in enumerate(_LATCHES):
        mine = which == number
        rows.set("wtaslwn", np.where(mine, waits, 0), latch - 1)
        rows.set("wtaslwet", np.where(mine, whole(total), 0) * factor, latch - 1)
        rows.set("wtaslmax", np.where(mine, longest, 0), latch - 1)
    rows.set("wtasmlw", whole(total) * factor)
    rows.set("wtasmlwn", np.where(waited, np.array(_LATCHES)[which], 0))


def class_1_columns(queues: Columns, size: Ints, owner: Ints, rows: int) -> Columns:
    """Return what class 1 says of tasks: puts and gets by size band, and their processor time.

    `queues` are the counts of the tasks' queues, `size` the mean message size of each.
    """
    band = np.searchsorted(_SIZE_BANDS, size, side="right")
    columns: Columns = {}
    for verb, counts in (
        ("put", queues["putn"] + queues["put1n"]),
        ("get", queues["validget"]),
    ):
        for number, letter in enumerate("abcd"):
            mine = np.where(band == number, counts, 0)
            columns[f"qmac{verb}{letter}"] = np.bincount(owner, mine, rows)
    spent = sum(queues[f"{verb}ct"] for verb in ("open", "close", "get", "put", "put1", "inq"))
    columns["qmaccput"] = np.bincount(owner, spent, rows)
    return columns
