"""The combined effect of changes in load, message size, log I/O time, streaming and ACCTIME."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from smfparse.planning.log import IDLE, estimated_bytes, io_rate
from smfparse.planning.pages import message_pages
from smfparse.planning.plans import Ask, Asked, Figure, Planner, said
from smfparse.planning.smf import DAY_S, MB, gathering_us, writing_us
from smfparse.planning.streaming import put_ratio, put_us


@dataclass(frozen=True)
class WhatIf(Asked):
    """Inputs: first the assumed changes, then the current values."""

    load: Annotated[
        float, Ask("Assumed message rate, as a multiple of the current rate", "x", 0.01, 100)
    ] = 1
    log_io_time: Annotated[float | None, Ask("Assumed log I/O time", "us", low=0.1)] = None
    streaming: Annotated[str, Ask("Queues to stream, for example 'PAY.*'")] = ""
    share: Annotated[
        float,
        Ask("Share of puts to stream", "%", high=100, measured="puts to those queues"),
    ] = 0
    message_size: Annotated[float | None, Ask("Assumed size of messages", "KB", high=128)] = None
    acctime: Annotated[float | None, Ask("Proposed ACCTIME", "seconds", low=1, high=DAY_S)] = None
    mb_s: Annotated[
        float, Ask("Log write rate per copy", "MB/s", measured="CIs of the fuller copy (qjst_io)")
    ] = 220
    pages: Annotated[
        float, Ask("Pages per I/O", low=1, high=128, measured="CIs over I/Os (qjst_io)")
    ] = 11
    io_busy: Annotated[
        float,
        Ask("Share of time in log I/O", "%", IDLE, 100, measured="qjstiototsus, the larger copy"),
    ] = 94.66
    busy: Annotated[float, Ask("Log task busy", "%", IDLE, 100, measured="1 - qjstslptu")] = 99.9
    message_kb: Annotated[
        float, Ask("Size of messages", "KB", high=128, measured="putbytes over validput (wqst)")
    ] = 2
    put_cost: Annotated[
        float | None,
        Ask("CPU per put", "us", low=0.01, measured="putct + put1ct over puts (wqst)"),
    ] = None
    puts_s: Annotated[
        float, Ask("Messages put per second", measured="validput (wqst) over the time")
    ] = 1000
    adapter_busy: Annotated[
        float | None,
        Ask("Adapters busy, on average", "%", high=100, measured="qcteltm of all (qct_adp)"),
    ] = None
    pages_s: Annotated[
        float | None, Ask("New pages per second", measured="wtasgpn over the time")
    ] = None
    tasks: Annotated[
        float, Ask("Tasks that run longer than the interval", measured="mean of the intervals")
    ] = 1
    interval: Annotated[
        float, Ask("ACCTIME", "seconds", 1, DAY_S, measured="typical interval of a record")
    ] = 60
    task_records: Annotated[
        float, Ask("Records per task and interval", low=1, measured="116/1 and 116/2 over 116/1")
    ] = 1
    record_bytes: Annotated[
        float, Ask("Bytes per record", "bytes", 1, measured="bytes of 116/1 and 116/2")
    ] = 5120
    calls_a_second: Annotated[
        float, Ask("API calls per second", measured="calls of all verbs, in wqst and wtas")
    ] = 100


@dataclass(frozen=True)
class _Change:
    """The factor by which a figure changes, and its explanation."""

    factor: float
    words: str

    def figure(
        self, name: str, label: str, now: float, unit: str, planner: str, decimals: int = 1
    ) -> Figure:
        """Return a figure with the current and the changed value."""
        formula = f"{planner}: {said(now)} x {self.words}"
        return Figure(name, label, now * self.factor, unit, formula, decimals, before=now)


def _times(*parts: float) -> _Change:
    factor = 1.0
    for each in parts:
        factor *= each
    return _Change(factor, " x ".join(map(said, parts)))


def _figures(asked: WhatIf) -> Sequence[Figure]:
    return [*_log(asked), *_puts(asked), *_storage(asked), *_smf(asked)]


def _size(asked: WhatIf) -> float:
    return asked.message_kb if asked.message_size is None else asked.message_size


def _log(asked: WhatIf) -> list[Figure]:
    """Return the log figures: bytes depend on messages, busy time on bytes and I/O time."""
    bytes_ratio = estimated_bytes(_size(asked) * 1024) / estimated_bytes(asked.message_kb * 1024)
    written = _times(asked.load, bytes_ratio, 1 + asked.share / 100)
    ios = io_rate(asked.mb_s, asked.pages)
    us = asked.io_busy / 100 / ios * 1e6 if ios else 0.0
    io = asked.log_io_time / us if asked.log_io_time and us else 1.0
    quicker = (asked.busy + asked.io_busy * (io - 1)) / asked.busy if asked.log_io_time else 1.0
    busy = _times(written.factor, max(quicker, 0.0))
    then = asked.busy * busy.factor
    taken = asked.load * 100 / then if then else 0.0
    return [
        written.figure("log_mb_s", "Log write rate per copy", asked.mb_s, "MB/s", "log", 2),
        busy.figure(
            "log_busy", "Log task busy (over 100%: not achievable)", asked.busy, "%", "log"
        ),
        Figure(
            *("log_load", "Maximum message rate of the log, relative to now", taken, "x"),
            *(f"log: {said(asked.load)} x 100 / {said(then)}, the same pages per I/O", 2),
            before=100 / asked.busy,
        ),
    ]


def _puts(asked: WhatIf) -> list[Figure]:
    cost = partial(put_us, kind="private", streamed=False)
    now = asked.put_cost or cost(asked.message_kb)
    larger = cost(_size(asked)) / cost(asked.message_kb)
    streamed = 1 + asked.share / 100 * (put_ratio(_size(asked), "private") - 1)
    put = _times(larger, streamed)
    cpu = _times(asked.load, larger, streamed)
    found = [
        put.figure("put_us", "CPU per put", now, "us", "streaming", 2),
        cpu.figure("put_ms_s", "CPU of all puts", now * asked.puts_s / 1000, "ms/s", "streaming"),
    ]
    if asked.adapter_busy is not None:
        label = "Adapters busy, at most"
        found.append(cpu.figure("adapters", label, asked.adapter_busy, "%", "streaming"))
    return found


def _storage(asked: WhatIf) -> list[Figure]:
    if asked.pages_s is None:
        return []
    pages = message_pages(_size(asked) * 1024) / message_pages(asked.message_kb * 1024)
    change = _times(asked.load, pages, 1 + asked.share / 100)
    return [
        change.figure("pages_s", "New pages of buffer pools", asked.pages_s, "per second", "pages")
    ]


def _smf(asked: WhatIf) -> list[Figure]:
    then = asked.acctime or asked.interval
    records = asked.tasks * asked.task_records
    now_mb = records * DAY_S / asked.interval * asked.record_bytes / MB
    more = _times(asked.interval / then)
    gathered = gathering_us(asked.calls_a_second * 60)
    now_us = gathered + writing_us(records * 60 / asked.interval)
    then_us = gathered * asked.load + writing_us(records * 60 / then)
    return [
        more.figure("smf_mb_day", "SMF data of long-running tasks per day", now_mb, "MB", "smf"),
        Figure(
            *("smf_us_minute", "CPU of accounting per minute", then_us, "us"),
            f"smf: 0.5 x {said(asked.calls_a_second * 60 * asked.load)} + 4 x "
            f"{said(records * 60 / then)}",
            before=now_us,
        ),
    ]


PLANNER = Planner(
    "whatif",
    "Effect of load, size, log, streaming and ACCTIME",
    WhatIf,
    _figures,
    (
        "Sources of the planners log, streaming, pages and smf; each line names its planner",
        "Log bytes for another message size: data plus 860 bytes per message, plus or minus 40%",
    ),
    "The current mix of messages and calls, private queues, sizes up to 128 KB, the current pages "
    "per log I/O. A busy log writes more pages per I/O, so its real maximum is higher. Use the "
    "busiest hour (--from, --until), not the day.",
    (
        "effects beyond the measured load: queueing, latches, and CPU of other work",
        "the CPU of gets, commits and channels",
    ),
    "START TRACE(STAT) CLASS(1,4), START TRACE(ACCTG) CLASS(3)",
)
