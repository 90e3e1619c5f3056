"""Invented counters of the statistics blocks: one row per queue manager and interval.

The counters are derived from sums over tasks, which are assumed to do half of the work.
Durations are microseconds, moments microseconds since 1970, in UTC.
"""

from __future__ import annotations

import numpy as np

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.simulating.block_parts import (
    BATCH_CONTROL,
    BATCH_KB,
    CHANNEL_STATE,
    LOGS,
    MESSAGE_HEADER,
    log_totals,
    set_log_writes,
)
from smfparse.simulating.declaration import CHANNEL_TYPES
from smfparse.simulating.draws import NEVER, Columns, Draws, Floats, Ints, Rows, whole
from smfparse.simulating.workload import Intervals

_CI = 4096
_MOST_WRITES = 400
"""Maximum log writes per second of one copy and kind: at 600 us each, a quarter of the time."""
_ABOVE_BAR = 0x80000000
_BUFFERS = np.array([20_000, 50_000, 100_000])
_DB2_REQUESTS = {
    **{f"{name}cnt": name for name in ("dele", "list", "read", "updt", "writ")},
    **{f"scs{name}": f"scs{name[0]}" for name in ("sel", "ins", "upd", "del")},
    **{f"ssk{name}": f"ssk{name[0]}" for name in ("sel", "ins", "del")},
    **{f"lms{name}": f"lms{name[0]}" for name in ("sel", "ins", "upd", "del", "lis")},
}
"""Prefix of the times of each kind of request to Db2, by the counter of the requests."""
_BATCH_SIZE = 50
_STORAGE = {"qsstgplf": 20, "qsstgplv": 200, "qsstfrev": 6000, "qsstgetm": 300}
"""Medians of the storage manager counters that are not zero in a healthy queue manager."""


def message_columns(sums: Columns, draws: Draws) -> Columns:
    """Return the message manager's counters, from sums over the queue blocks of tasks."""
    rows = len(sums["putn"])
    more = 1.8 + 0.4 * draws.uniform(rows)
    columns: Columns = {
        f"qmst{name}": whole(sums[source] * more) + draws.below(rows, 40)
        for name, source in (
            ("open", "openn"),
            ("clos", "closen"),
            ("get", "getn"),
            ("put", "putn"),
            ("put1", "put1n"),
            ("inq", "inqn"),
        )
    }
    persistent = whole((sums["putpmsg"] + sums["put1pmsg"]) * more)
    every = columns["qmstput"] + columns["qmstput1"]
    mean = np.maximum(whole(sums["putbytes"] / np.maximum(sums["validput"], 1)), 100)
    plain = np.maximum(every - persistent, 0)
    return columns | {
        "qmstcalh": draws.below(rows, 8),
        "qmstcb": draws.below(rows, 5),
        "qmstctl": draws.below(rows, 10),
        "qmstspp": persistent,
        "qmstsnp": plain,
        "qmstpbp": persistent * mean,
        "qmstnbp": plain * mean,
    }


def data_columns(messages: Columns, draws: Draws) -> Columns:
    """Return the data manager's counters, from the message manager's counters."""
    rows = len(messages["qmstget"])
    got = messages["qmstget"]
    return {
        "qistmget": got,
        "qistmput": messages["qmstput"] + messages["qmstput1"],
        "qistmblr": whole(got * 0.003),
        "qistdget": messages["qmstopen"] // 3 + draws.below(rows, 30),
        "qistdloc": messages["qmstopen"] * 2,
        "qistenum": draws.below(rows, 30),
        "qistgetd": np.where(draws.chance(rows, 0.1), got // 50, 0),
        "qistgetb": whole(got * 0.8),
    }


def storage_columns(rows: int, draws: Draws) -> Columns:
    """Return the storage manager's counters."""
    columns: Columns = {
        name: whole(draws.skewed(rows, usual, 10)) for name, usual in _STORAGE.items()
    }
    return columns | {
        "qsstfplf": columns["qsstgplf"],
        "qsstfplv": columns["qsstgplv"],
        "qsstexpv": columns["qsstfrev"],
        "qsstfrem": columns["qsstgetm"],
    }


def set_log(rows: Rows, logged: Floats, of: Intervals, draws: Draws) -> None:
    """Set the log manager's counters: writes of control intervals (CIs) of 4 KB to both copies.

    logged  bytes of persistent messages that tasks put; the log also contains other bytes
    """
    length = of.site.length
    seconds = length / US_PER_SECOND
    base = draws.skewed(len(rows), 3_000_000, 10) * of.load * seconds
    cis = whole((base + 2.2 * logged) / _CI) + 20
    most = _MOST_WRITES * seconds
    fewer = most * (0.5 + 0.5 * draws.uniform(len(rows)))
    single = 1 + whole(np.minimum(cis * (0.05 + 0.3 * draws.uniform(len(rows))), fewer))
    pages = np.maximum(4 + 20 * draws.uniform(len(rows)), (cis - single) / most)
    several = 1 + whole((cis - single) / pages)
    written = ((single, single), (several, cis - single))
    mean = 150 + 370 * draws.uniform(len(rows))
    suspended = np.zeros(len(rows))
    for copy in (0, 1):
        total = np.zeros(len(rows))
        for kind, counts in enumerate(written):
            entry = 2 * copy + kind
            usual = mean * (1 + 0.05 * entry)
            log = draws.below(len(rows), LOGS)
            when = of.begin + whole(length * draws.uniform(len(rows)))
            times = (counts[0] * usual, usual * (1.5 + draws.skewed(len(rows), 4)))
            total += set_log_writes(rows, entry, counts, times, (1.02, 1.01), when, log)
        suspended = np.maximum(suspended, total)
    busy = np.minimum(suspended * 1.01, length)
    writes = single + several
    rows.set("qjstslptu", whole(length - busy))
    squares = whole(writes * mean * mean * 1.4)
    rows.set("qjstiosqu", np.stack([np.zeros_like(squares), squares], axis=1))
    rows.set_all(_log_columns(writes, cis, draws))


def _log_columns(writes: Ints, cis: Ints, draws: Draws) -> Columns:
    rows = len(writes)
    switched = np.where(draws.chance(rows, 0.2), 1, 0)
    return {
        **log_totals(writes, cis, switched, 18_000, copies=2),
        "qjstwrnw": whole(cis * 12.0),
        "qjstwrf": draws.below(rows, 200) + writes // 50,
        "qjstrbuf": draws.below(rows, 15),
        "qjstbsds": 300 + draws.below(rows, 400),
        "qjstbffl": whole(cis * 0.45) + 1,
        "qjstllcp": 1 + draws.below(rows, 6),
        "qjstlsus": writes,
        "qjstthrw": draws.below(rows, 20),
    }


def pool_columns(nth: Ints, messages: Ints, draws: Draws) -> Columns:
    """Return the buffer manager's counters, one row per pool.

    nth       number of the pool
    messages  number of messages put and got in the whole queue manager
    """
    rows = len(nth)
    size = _BUFFERS[nth % len(_BUFFERS)]
    free = whole(size * (0.9 + 0.09 * draws.uniform(rows)))
    requests = whole(messages * draws.uniform(rows) * draws.uniform(rows) * 3)
    quiet = draws.chance(rows, 0.3)
    requests = np.where(quiet, draws.below(rows, 50), requests)
    written = np.where(quiet, 0, whole(requests * 0.06 * draws.uniform(rows)))
    operations = np.where(written > 0, written // 12 + 1, 0)
    read = np.where(draws.chance(rows, 0.1), requests // 200, 0)
    return {
        "qpstpool": nth,
        "qpstnbuf": size,
        "qpstcbs": free,
        "qpstcbsl": whole(free * (0.4 + 0.6 * draws.uniform(rows))),
        "qpstgetp": requests,
        "qpstgetn": requests // 5,
        "qpstrio": read,
        "qpststw": whole(requests * 0.97),
        "qpsttpw": written,
        "qpstwio": operations,
        "qpstimw": np.minimum(operations, draws.below(rows, 40)),
        "qpststl": read,
        "qpstflag": np.where(nth % 3 == 0, 0, _ABOVE_BAR),
    }


def chinit_columns(rows: int, interval: int, draws: Draws) -> Columns:
    """Return the counters of tasks of the channel initiator: requests and their times."""
    requests = whole(draws.skewed(rows, 2000))
    busy = np.minimum(requests * (20 + 60 * draws.uniform(rows)), interval * 0.9)
    return {
        "qctreqn": requests,
        "qctcptm": busy * 0.7,
        "qcteltm": busy,
        "qctwttm": interval - busy,
    }


def page_set_columns(nth: Ints, draws: Draws) -> Columns:
    """Return the state and the I/O of page sets; `nth` is the number of each page set."""
    rows = len(nth)
    pages = 20_000 * (1 + draws.below(rows, 5))
    used = whole(pages * 0.4 * draws.uniform(rows))
    persistent = whole(used * draws.uniform(rows))
    writes = whole(draws.skewed(rows, 20))
    return {
        "qis1psno": nth,
        "qis1bpno": nth % 4,
        "qis1topg": pages,
        "qis1unpg": pages - used,
        "qis1ppg": persistent,
        "qis1nppg": used - persistent,
        "qis1full": 0,
        "qis1pchi": used,
        "qis1dwpn": writes,
        "qis1dwpp": writes * 12,
        "qis1dwpt": writes * (400 + 900 * draws.uniform(rows)),
        "qis1expn": 0,
        "qis1strn": 1,
        "qis1stat": 0,
    }


def db2_columns(rows: int, draws: Draws) -> Columns:
    """Return the counters and times of Db2 requests; times in the thread, and in Db2 alone."""
    columns: Columns = {}
    for count, name in _DB2_REQUESTS.items():
        calls = np.where(draws.chance(rows, 0.4), whole(draws.skewed(rows, 300)), 0)
        mean = 300 + 900 * draws.uniform(rows)
        longest = mean * np.minimum(calls, 1.5 + 3 * draws.uniform(rows))
        columns[count] = calls
        for whose, share in (("t", np.ones(rows)), ("s", 0.8 + 0.15 * draws.uniform(rows))):
            columns[f"{name}{whose}cuw"] = calls * mean * share
            columns[f"{name}{whose}mxw"] = longest * share
    return columns


def channel_type(channel: str, qmgr: str) -> int:
    """Return the type of a channel at a queue manager, by its name."""
    if channel.endswith("SVRCONN"):
        return CHANNEL_TYPES["server-connection"]
    return CHANNEL_TYPES["receiver" if channel.endswith(f"TO.{qmgr}") else "sender"]


def channel_columns(kind: Ints, end: Ints, draws: Draws) -> Columns:
    """Return the counters of channels that run all the time, one row per instance.

    Server-connection channels have no batches. They have conversations, and count calls.

    kind  type of each channel
    end   end of the interval of each row
    """
    rows = len(kind)
    clients, receives = (kind == CHANNEL_TYPES[each] for each in ("server-connection", "receiver"))
    messages = 1 + whole(draws.skewed(rows, 2000))
    persistent = whole(messages * draws.uniform(rows))
    size = 200 + whole(draws.skewed(rows, 1000))
    batches = np.where(clients, 0, -(-messages // (1 + draws.below(rows, _BATCH_SIZE))))
    data = messages * (size + MESSAGE_HEADER)
    control = BATCH_CONTROL * (batches + np.where(clients, messages, 0))
    return {
        "qcstchty": kind,
        **CHANNEL_STATE,
        "qcstcltm": end,
        "qcstludt": NEVER,
        "qcstcbsz": np.where(clients, 0, _BATCH_SIZE),
        "qcstcbit": 0,
        "qcstcbdl": np.where(clients, 0, BATCH_KB),
        "qcstnmsg": messages,
        "qcstnpmg": persistent,
        "qcstbatc": batches,
        "qcstfuba": np.where(clients, 0, (messages - batches) // _BATCH_SIZE),
        "qcstnbyt": messages * size,
        "qcstnpby": persistent * size,
        "qcstbyst": np.where(receives, control, data),
        "qcstbyrc": np.where(receives | clients, data, control),
        "qcstcscv": np.where(clients, 1 + draws.below(rows, 10), 0),
        "qcstqetc": np.where(clients | receives, 0, batches // 3),
        "qcstptrc": np.where(receives & draws.chance(rows, 0.3), draws.below(rows, 20), 0),
        **_shortest_to_longest("qcstnt", 150 * draws.near(rows, 0.5), draws),
        **_shortest_to_longest("qcstet", 20 * draws.near(rows, 0.5), draws),
    }


def _shortest_to_longest(name: str, shortest: Floats, draws: Draws) -> Columns:
    mean = shortest * (1.1 + draws.uniform(len(shortest)))
    longest = mean * (2 + draws.skewed(len(shortest), 4))
    return {
        f"{name}{which}": whole(times)
        for which, times in (("mn", shortest), ("av", mean), ("mx", longest))
    }
