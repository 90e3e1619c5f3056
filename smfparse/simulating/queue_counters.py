"""Invented counters of the queue blocks: the queues of class 3 tasks.

Costs follow IBM's published figures: a put of 2 KB takes 4.5 us of CPU, a put of 64 KB 21 us.
Durations are microseconds, moments microseconds since 1970, in UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.layout.kinds import Values
from smfparse.simulating.block_parts import NO_MESSAGE, calls
from smfparse.simulating.draws import NEVER, Bools, Columns, Draws, Floats, Ints, Rows, whole
from smfparse.simulating.workload import CHINIT, Spans, Tasks

VERBS = ("open", "close", "get", "put", "put1")


def queue_columns(tasks: Tasks, spans: Spans, load: Floats, draws: Draws) -> Columns:
    """Return the counters of queue blocks; `spans` and `load` have one value per queue block.

    A queue that a task does not use has no block, so the queue of each block is used at least once.
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

    most  maximum number for a lasting task; 0: the task has opened the queue before, and keeps it
          open
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
