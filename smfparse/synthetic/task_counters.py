"""Counters of the task blocks of a synthetic file: the class 1 and class 3 records.

A task's counters come from its queues. Durations are microseconds, moments microseconds since 1970,
in UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout import Values, version_key
from smfparse.synthetic.draws import Draws, FieldValues, Ints, Rows, big_endian, whole
from smfparse.synthetic.queue_counters import VERBS, elapsed
from smfparse.synthetic.workload import CHINIT, TRANSACTIONAL, Spans, Tasks

_LATCHES = (12, 19, 21, 30)
_HIGH_WORD = 2.0**32
_FIRST_HIGH_WORD = (10,)
"""From this MQ version latch waits stand in the high word of their field."""
_LATCH_SHARE = 0.06
_ACTIVE, _ENDED = 0x00800000, 0x20800000
_TASK_ENDED = 12
_SIZE_BANDS = (100, 1000, 10_000)


def summed(columns: FieldValues, owner: Ints, rows: int) -> FieldValues:
    """Add columns up by owner."""
    return {name: np.bincount(owner, values, rows) for name, values in columns.items()}


def task_columns(tasks: Tasks, queues: FieldValues, spans: Spans, draws: Draws) -> FieldValues:
    """Return what the task blocks count, given the sums over each task's queues."""
    rows = len(spans.begin)
    times = rows // max(len(tasks.qmgr), 1)
    calls = queues["putn"] + queues["put1n"] + queues["getn"]
    commits = whole(calls * (0.1 + 0.2 * draws.uniform(rows)))
    logging = _logging(queues, commits, draws)
    lasting = np.tile(tasks.lasting, times)
    ended = np.where(lasting, 0, 1)
    return {
        "wtasmthr": np.tile(tasks.address - 0x2000000, times),
        "wtaswtas": np.tile(tasks.address, times),
        "wtaswqct": np.tile(tasks.queues, times),
        "wtashshi": np.tile(tasks.address * 31 % 1021, times),
        "wtasflag": np.where(lasting, _ACTIVE, _ENDED),
        "wtascqf": np.tile(tasks.first_block, times),
        "wtascqb": np.tile(tasks.last_block, times),
        "wtasgpo": whole(calls * 3 * draws.near(rows, 0.3)),
        "wtasgpn": whole((queues["putn"] + queues["put1n"]) * (1 + 0.2 * draws.uniform(rows))),
        "wtastpn": whole(calls * 4),
        **_units_of_work(tasks, times, commits, ended, logging["wait"], draws),
        **_calls_elsewhere(tasks, times, draws),
        **{name: values for name, values in logging.items() if name != "wait"},
    }


def _logging(queues: FieldValues, commits: Ints, draws: Draws) -> FieldValues:
    """Return what tasks write to the log and wait for it; "wait" is that of their commits."""
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


def _units_of_work(
    tasks: Tasks, times: int, commits: Ints, ended: Ints, wait: Values, draws: Draws
) -> FieldValues:
    """Return commits, backouts and, under a transaction manager, prepares."""
    rows = len(commits)
    two_phase = np.tile(np.isin(tasks.adapter, TRANSACTIONAL), times)
    prepared = np.where(two_phase, commits, 0)
    backouts = np.where(draws.chance(rows, 0.03), 1, 0) + ended * draws.below(rows, 2)
    commit = commits * (4 + 16 * draws.uniform(rows))
    prepare = prepared * (10 + 13 * draws.uniform(rows))
    backout = backouts * (13 + 14 * draws.uniform(rows))
    share = np.where(two_phase, 0.6 + 0.3 * draws.uniform(rows), 0)
    return {
        "wtascmn": commits,
        "wtascmct": commit,
        "wtascmet": elapsed(commit, draws) + wait * (1 - share),
        "wtasprn": prepared,
        "wtasprct": prepare,
        "wtaspret": elapsed(prepare, draws) + wait * share,
        "wtasban": backouts,
        "wtasbact": backout,
        "wtasbaet": backout * (2 + 0.3 * draws.uniform(rows)),
    }


def _calls_elsewhere(tasks: Tasks, times: int, draws: Draws) -> FieldValues:
    """Return calls that belong to no queue, and requests to Db2 for shared ones."""
    rows = times * len(tasks.qmgr)
    channel = np.tile(tasks.adapter == CHINIT, times)
    counts = {
        "wtasot": (1 + draws.below(rows, 12), 12),
        "wtasct": (np.where(channel & draws.chance(rows, 0.3), draws.below(rows, 40), 0), 2),
        "wtassu": (np.where(draws.chance(rows, 0.02), 1 + draws.below(rows, 3), 0), 45),
        "wtasst": (np.where(draws.chance(rows, 0.01), 1, 0), 4),
    }
    columns: FieldValues = {}
    for name, (calls, each) in counts.items():
        cpu_time = calls * each * draws.near(rows, 0.5)
        columns |= {
            f"{name}n": calls,
            f"{name}ct": cpu_time,
            f"{name}et": cpu_time * (1.01 + draws.uniform(rows)),
        }
    return columns | _db2(tasks, times, draws)


def _db2(tasks: Tasks, times: int, draws: Draws) -> FieldValues:
    rows = times * len(tasks.qmgr)
    shared = np.bincount(tasks.task[tasks.shared], minlength=len(tasks.qmgr)) > 0
    asked = np.tile(shared, times) & draws.chance(rows, 0.4)
    requests = np.where(asked, 1 + draws.below(rows, 3), 0)
    longest = np.where(asked, 600 + 600 * draws.uniform(rows), 0)
    served = longest * (0.9 + 0.09 * draws.uniform(rows))
    longer = np.where(requests > 1, 1 + (requests - 1) * (0.4 + 0.5 * draws.uniform(rows)), 1)
    return {
        "wtasdbct": requests,
        "wtasdbet": longest * longer,
        "wtasdbes": served * longer,
        "wtasdbmt": longest,
        "wtasdbms": served,
    }


def set_latches(rows: Rows, version: str, draws: Draws) -> None:
    """Set latch waits of some tasks: one class each, for the worst class is what a task shows."""
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


def class_1_columns(queues: FieldValues, size: Ints, owner: Ints, rows: int) -> FieldValues:
    """Return what class 1 counts of tasks: puts and gets by size band, and their processor time.

    `queues` are the counts of the tasks' queues, `size` the mean message size of each.
    """
    band = np.searchsorted(_SIZE_BANDS, size, side="right")
    columns: FieldValues = {}
    for verb, counts in (
        ("put", queues["putn"] + queues["put1n"]),
        ("get", queues["validget"]),
    ):
        for number, letter in enumerate("abcd"):
            mine = np.where(band == number, counts, 0)
            columns[f"qmac{verb}{letter}"] = np.bincount(owner, mine, rows)
    spent = sum(queues[f"{verb}ct"] for verb in (*VERBS, "inq", "set", "cb"))
    columns["qmaccput"] = np.bincount(owner, spent, rows)
    return columns


def class_1_processor_columns(columns: FieldValues, spans: Spans, draws: Draws) -> FieldValues:
    """Return the processor times of the block that class 1 took over, at a task's start and end.

    `columns` are those of the tasks' class 1 blocks.
    """
    rows = len(spans.begin)
    spent = columns["qmaccput"] * (1.1 + draws.uniform(rows))
    before, before_srb = draws.skewed(rows, 4e7), draws.skewed(rows, 2e7)
    return {
        "qwacbjst": before,
        "qwacejst": before + spent,
        "qwacbsrb": before_srb,
        "qwacesrb": before_srb + spent * 0.4 * draws.uniform(rows),
        "qwacrinv": np.full(rows, _TASK_ENDED),
        "qwaccomm": 1 + draws.below(rows, 3),
        "qwacback": draws.below(rows, 2),
    }
