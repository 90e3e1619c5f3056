"""The maximum rate of the log, effects of I/O time and copies, and time until logs are full."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

from smfparse.errors import RequestError
from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

HALF_DAY = 12
"""Minimum hours that active logs should last; the preferred number is 24."""
MOST_LOGS = 310
"""Maximum number of active logs of each copy."""


class LogSpace(NamedTuple):
    """Log space of one copy, in GB; None: unknown.

    hourly      average space written per hour
    hour        space written in the busiest hour
    half_day    space written in the busiest 12 hours
    unarchived  space written minus space archived in the same time
    """

    hourly: float | None
    hour: float | None
    half_day: float | None
    unarchived: float | None


def active_logs(
    used: LogSpace, size: float | None, logs: int | None, copies: int, outage_hours: float
) -> Iterator[Figure]:
    """Yield the time until active logs are full, and the number of logs for an archiving outage.

    size  GB of one log
    logs  number of active logs of each copy
    """
    if used.hourly is not None:
        yield Figure("used_gb_h", "Log space used per copy", used.hourly, "GB/hour", "", 3)
    if size is None:
        return
    yield from _archiving(used, size, logs)
    yield from _time_of_log(used, size)
    if logs is not None:
        yield from _until_full(used, size, logs, copies)
    yield from _needed(used, size, outage_hours)


def _archiving(used: LogSpace, size: float, logs: int | None) -> Iterator[Figure]:
    if used.unarchived is None:
        return
    behind = used.unarchived / size
    if logs is not None and behind > logs:
        words = f"not possible with {logs} logs: check --log-size and --logs"
    elif behind > 1:
        words = "archiving is too slow, or --log-size is too small"
    else:
        words = "archiving keeps up"
    yield Figure(
        *("behind_logs", "Created but not archived", behind, "logs"),
        *(f"{said(used.unarchived)} GB / {said(size)} GB: {words}", 2),
    )


def _time_of_log(used: LogSpace, size: float) -> Iterator[Figure]:
    if used.hour:
        yield Figure(
            *("log_minutes", "Time to fill one log in the busiest hour", 60 * size / used.hour),
            *("minutes", f"60 x {said(size)} / {said(used.hour)}"),
        )


def _until_full(used: LogSpace, size: float, logs: int, copies: int) -> Iterator[Figure]:
    space = size * logs
    yield Figure(
        *("active_gb", "Active logs on disk", space * copies, "GB"),
        *(f"{copies} x {logs} x {said(size)}", 1),
    )
    for name, label, rate, how in (
        ("full_h", "All logs full at the average rate", used.hourly, ""),
        ("full_peak_h", "All logs full in the busiest hour", used.hour, ""),
        ("full_half_day_h", "All logs full in the busiest 12 hours", used.half_day, " x 12"),
    ):
        if rate:
            hours = space / rate * (HALF_DAY if how else 1)
            formula = f"{logs} x {said(size)} / {said(rate)}{how}, if all are empty now"
            yield Figure(name, label, hours, "hours", formula, 1)


def _needed(used: LogSpace, size: float, hours: float) -> Iterator[Figure]:
    if not used.half_day or not used.hour:
        return
    gb = used.half_day * hours / HALF_DAY
    formula = f"{said(used.half_day)} x {said(hours)} / 12"
    if hours < HALF_DAY:
        gb = min(used.half_day, used.hour * hours)
        formula = f"lesser of {said(used.half_day)} and {said(used.hour)} x {said(hours)}"
    logs = math.ceil(gb / size)
    too_many = f"; the maximum is {MOST_LOGS}: use larger logs" if logs > MOST_LOGS else ""
    yield Figure(
        *("logs_needed", f"Logs per copy for {said(hours)} hours without archiving", logs, ""),
        f"ceil(({formula}) / {said(size)}){too_many}",
    )


PAGES_A_MB = 256
MOST_PAGES = 128
"""Maximum pages of a log write."""
_MB = 1 << 20
PUT_BYTES, GET_BYTES, START_BYTES, END_BYTES = 500, 110, 120, 240
"""Log bytes of a put (without data), a get, and the start and end of a unit of work."""
SMALL_KB = 96
"""Maximum size of small messages, for which IBM measured the larger gain of zHyperWrite."""
ZHYPERWRITE = {True: 0.6, False: 0.88}
"""I/O time with zHyperWrite divided by I/O time with PPRC; True: small messages."""
_UNMIRRORED = 580 / 391
"""Rate without a mirror divided by rate with PPRC, for messages of 4 MB."""
IDLE = 1e-4
"""The minimum accepted busy percentage of a log."""
_ROUGH_FACTOR = 2
"""Above this multiple of the measured pages, a result is only an order of magnitude."""


class IoTime(NamedTuple):
    """The time of a log I/O of p pages: a + b p, microseconds."""

    a: float
    b: float

    def at(self, pages: float) -> float:
        """Return the microseconds of an I/O of `pages` pages."""
        return self.a + self.b * pages

    def striped(self, times: float) -> Self:
        """Return the time for `times` x the stripes: `b` is divided among stripes, `a` is not."""
        return self._replace(b=self.b / times)

    def mb_s(self, pages: float, share: float = 1.0) -> float:
        """Return the MB/s of one copy; `share` is the share of I/O in the busy time of the log."""
        return pages / PAGES_A_MB / (self.at(pages) * 1e-6 / share)


def io_line(first: tuple[float, float], second: tuple[float, float]) -> IoTime:
    """Return the line through two points (pages of an I/O, microseconds of the I/O).

    Raises RequestError if both points have the same number of pages.
    """
    if second[0] == first[0]:
        raise RequestError("both I/O times are for the same number of pages; give another number")
    b = (second[1] - first[1]) / (second[0] - first[0])
    return IoTime(first[1] - b * first[0], b)


def io_rate(mb_s: float, pages: float) -> float:
    """Return the number of log I/Os per second of one copy."""
    return mb_s * PAGES_A_MB / pages


def mb_of_pages(pages: float, seconds: float) -> float:
    """Return the MB per second of written pages."""
    return pages / PAGES_A_MB / seconds


def rate_at_full(mb_s: float, busy: float) -> float:
    """Return the rate of the same workload with a log task that is always busy; `busy`: 0 to 1."""
    return mb_s / busy


def messages_a_second(mb_s: float, bytes_each: float) -> int:
    """Return the persistent messages per second, given the log rate and the bytes per message."""
    return math.floor(mb_s * _MB / bytes_each)


def estimated_bytes(size: float, gets: float = 0, started: float = 1, ended: float = 1) -> float:
    """Return the log bytes per put of `size` bytes, including gets and units of work; +-40%.

    gets, started, ended  per put: number of gets, and of started and ended units of work
    """
    return size + PUT_BYTES + gets * GET_BYTES + started * START_BYTES + ended * END_BYTES


def disk_mb(mb_s: float, copies: int, mirrored: bool) -> float:
    """Return the MB/s written to disk for a rate of log data: logs, archives and their mirror."""
    return mb_s * copies * (3 if mirrored else 2)


@dataclass(frozen=True)
class Log(Asked):
    """Inputs; the defaults are IBM's example."""

    mb_s: Annotated[
        float, Ask("Log write rate per copy", "MB/s", measured="CIs of the fuller copy (qjst_io)")
    ] = 220
    pages: Annotated[
        float,
        Ask("Pages per I/O", low=1, high=MOST_PAGES, measured="CIs over I/Os (qjst_io)"),
    ] = 11
    io_busy: Annotated[
        float,
        Ask(
            "Share of time in log I/O",
            "%",
            low=IDLE,
            high=100,
            measured="qjstiototsus, the larger copy",
        ),
    ] = 94.66
    busy: Annotated[
        float, Ask("Log task busy", "%", low=IDLE, high=100, measured="1 - qjstslptu")
    ] = 99.9
    one_page_us: Annotated[
        float | None,
        Ask("Time of a one-page I/O", "us", low=0.1, measured="qjstiototio of one CI"),
    ] = None
    more_pages: Annotated[
        float | None,
        Ask("Pages in a multi-page I/O", low=1.01, high=MOST_PAGES, measured="qjst_io, type 2"),
    ] = None
    more_pages_us: Annotated[
        float | None,
        Ask("Time of a multi-page I/O", "us", low=0.1, measured="qjstiototio of several CIs"),
    ] = None
    bytes_each: Annotated[
        float,
        Ask(
            "Log bytes per persistent message",
            "bytes",
            low=1,
            measured="4096 x qjstbffl over qmstspp",
        ),
    ] = 2231
    message_kb: Annotated[
        float, Ask("Size of messages", "KB", high=102_400, measured="putbytes over validput (wqst)")
    ] = 1
    log_io_time: Annotated[float | None, Ask("Assumed log I/O time", "us", low=0.1)] = None
    mirror: Annotated[
        str,
        Ask(
            "Current mirroring of the log; for PPRC, alternatives are also shown",
            among=("none", "pprc", "zhyperwrite"),
        ),
    ] = "none"
    copies: Annotated[
        int, Ask("Copies of the log", low=1, high=2, measured="copies that wrote (qjst_io)")
    ] = 2
    stripes: Annotated[
        float,
        Ask("Assumed number of log stripes, as a multiple of the current number", "x", 1, 16),
    ] = 1
    streaming: Annotated[float, Ask("Share of persistent messages to stream", "%", high=100)] = 0
    log_size: Annotated[float | None, Ask("Size of an active log", "GB", low=0.001)] = None
    logs: Annotated[int | None, Ask("Active logs of each copy", low=2, high=MOST_LOGS)] = None
    outage_hours: Annotated[
        float, Ask("Time without archiving that the logs must cover", "hours", low=0.1, high=720)
    ] = HALF_DAY
    hourly_gb: Annotated[
        float | None,
        Ask("Log space used per hour and copy", "GB", measured="qjstbffl over the time"),
    ] = None
    hour_gb: Annotated[
        float | None,
        Ask(
            "Log space used in the busiest hour", "GB", measured="qjstbffl", needs="1 hour of data"
        ),
    ] = None
    half_day_gb: Annotated[
        float | None,
        Ask(
            "Log space used in the busiest 12 hours",
            "GB",
            measured="qjstbffl",
            needs="12 hours of data",
        ),
    ] = None
    unarchived_gb: Annotated[
        float | None,
        Ask("Log space created minus archived", "GB", measured="qjstbffl - qjstciof"),
    ] = None


def _figures(asked: Log) -> Sequence[Figure]:
    mb_s, busy = asked.mb_s, asked.busy / 100
    ios = io_rate(mb_s, asked.pages)
    us = asked.io_busy / 100 / ios * 1e6 if ios else 0.0
    full = rate_at_full(mb_s, busy)
    return [
        Figure("mb_s", "Log write rate per copy", mb_s, "MB/s", "", 3),
        Figure(
            "io_s",
            "Log I/Os per copy",
            ios,
            "per second",
            f"{said(mb_s)} x 256 / {said(asked.pages)}",
        ),
        Figure("io_us", "Log I/O time", us, "us", f"{asked.io_busy:g}% / {said(ios)}", 1),
        Figure(
            *("full_mb_s", "Maximum rate (log task 100% busy)", full, "MB/s"),
            *(f"{said(mb_s)} / {said(busy)}", 2),
        ),
        Figure(
            *("messages_s", "Persistent messages at maximum rate"),
            *(messages_a_second(full, asked.bytes_each), "per second"),
            f"floor({said(full)} x 1048576 / {said(asked.bytes_each)})",
        ),
        Figure(
            *("disk_mb_s", "Current disk write rate"),
            *(disk_mb(mb_s, asked.copies, asked.mirror != "none"), "MB/s"),
            *(f"{asked.copies} x (log + archive{' + mirror' * (asked.mirror != 'none')})", 1),
        ),
        *_maximum_rates(asked, full),
        *_what_if(asked, us, full),
        *active_logs(
            LogSpace(asked.hourly_gb, asked.hour_gb, asked.half_day_gb, asked.unarchived_gb),
            *(asked.log_size, asked.logs, asked.copies, asked.outage_hours),
        ),
    ]


def _line(asked: Log) -> IoTime | None:
    """Return the I/O time as a function of pages; None: unknown, or not longer for more pages."""
    if asked.one_page_us is None or asked.more_pages is None or asked.more_pages_us is None:
        return None
    if asked.more_pages_us <= asked.one_page_us:
        return None
    return io_line((1, asked.one_page_us), (asked.more_pages, asked.more_pages_us))


def _maximum_rates(asked: Log, full: float) -> list[Figure]:
    """Return the rate with the longest I/Os, and two rates with more stripes; []: unknown."""
    line = _line(asked)
    if line is None:
        return []
    share = min(asked.io_busy / asked.busy, 1.0)
    far = (asked.more_pages or 1) * _ROUGH_FACTOR < MOST_PAGES

    def ceiling(name: str, label: str, of: IoTime) -> Figure:
        formula = f"128 / 256 / (({said(of.a)} + {said(of.b)} x 128) us / {said(share)})"
        rate = of.mb_s(MOST_PAGES, share)
        return Figure(name, label, rate, "MB/s", formula, 1, rough=far)

    found = [ceiling("ceiling_mb_s", f"With {MOST_PAGES} pages per I/O", line)]
    if asked.stripes > 1:
        striped = line.striped(asked.stripes)
        us, then = line.at(asked.pages), striped.at(asked.pages)
        quicker = (asked.busy + asked.io_busy * (then / us - 1)) / asked.busy
        words = f"With {asked.stripes:g} times as many stripes"
        found += [
            Figure(
                *("striped_mb_s", f"{words}, the same mix", full / quicker, "MB/s"),
                *(f"{said(full)} / {said(quicker)}: I/O time {then:.0f} us instead of {us:.0f}", 1),
                rough=True,
            ),
            ceiling("striped_ceiling_mb_s", f"{words}, {MOST_PAGES} pages per I/O", striped),
        ]
    return found


def _what_if(asked: Log, us: float, full: float) -> list[Figure]:
    found = []
    if asked.log_io_time is not None:
        found += _of_io_time(asked, us, asked.log_io_time, full)
    if asked.mirror == "pprc":
        small = asked.message_kb <= SMALL_KB
        factor = ZHYPERWRITE[small]
        found += [
            Figure(
                *("zhyperwrite_mb_s", "With zHyperWrite instead of PPRC", full / factor, "MB/s"),
                *(f"{said(full)} / {factor} (at most 2.4 x)", 1),
            ),
            Figure(
                *("unmirrored_mb_s", "Without mirroring", full * _UNMIRRORED, "MB/s"),
                *(f"{said(full)} x 580 / 391 (messages of 4 MB)", 1),
                rough=asked.message_kb < 4096,
            ),
        ]
    if asked.copies == 2:
        found.append(
            Figure(
                *("single_mb_s", "With one copy", full * 1.2, "MB/s"),
                *(f"{said(full)} x 1.1 to 1.3", 1, (full * 1.1, full * 1.3)),
            )
        )
    if asked.streaming:
        factor = 1 + asked.streaming / 100
        found += [
            Figure(
                *("streaming_mb_s", "Log write rate with streaming", asked.mb_s * factor),
                *("MB/s", f"{said(asked.mb_s)} x {said(factor)}", 2),
            ),
            Figure(
                *(
                    "streaming_busy",
                    "Log task with streaming",
                    min(asked.busy * factor, 100),
                    "% busy",
                ),
                *(f"{said(asked.busy)} x {said(factor)}, at most 100; {_fuller(asked)}", 1),
            ),
        ]
    return found


def _fuller(asked: Log) -> str:
    """Return IBM's measured effect of streaming on a saturated log."""
    if asked.message_kb <= 64:
        return "the maximum rate rises by up to 70%, with fuller I/Os"
    return "the maximum rate rises by 2 to 6%"


def _of_io_time(asked: Log, us: float, then: float, full: float) -> list[Figure]:
    if not us:
        return []
    rest = max(asked.busy - asked.io_busy, 0)
    busy = rest + asked.io_busy * then / us
    rate = full * asked.busy / busy
    return [
        Figure(
            *("then_busy", "Log task busy with the given I/O time", min(busy, 100), "%"),
            *(f"{said(rest)} + {said(asked.io_busy)} x {said(then)} / {said(us)}", 2),
        ),
        Figure(
            *("then_full_mb_s", "Maximum rate with the given I/O time", rate, "MB/s"),
            *(f"{said(full)} x {said(asked.busy)} / {said(busy)}", 2),
        ),
        Figure("then_times", "Ratio to current maximum rate", rate / full, "x", "", 2),
    ]


PLANNER = Planner(
    "log",
    "Maximum log rate, and time until the active logs are full",
    Log,
    _figures,
    (
        "MQ 9.3 performance report, chapter 6: 220 MB/s per copy, 11 pages per I/O, 94.66% of the "
        "time in I/O: 5,120 I/Os per second of 184.9 us",
        "zHyperWrite paper: messages of 4 MB: 580 MB/s without a mirror, 391 with PPRC, 445 with "
        "zHyperWrite; small messages: less than 60% of the I/O time, up to 2.4 x the rate",
        "zHyperWrite paper: commits take half the time up to 128 KB, and 0.89 of it with 4 MB; CPU "
        "is 2.8% and SRB time 12.9% higher (the paper prints 12%)",
        "zCX use cases: with zHPF a write of 32 KB takes 259 us instead of 343",
        "MQ for z/OS on z15: effect of compressed archive logs if the cache of the storage system "
        "is full: rate 45 to 82% higher with 4 MB; recovery 40 MB/s instead of 106, CPU 1,451 us "
        "per MB instead of 930",
        "IBM documentation: one copy instead of two gives a rate 10 to 30% higher",
        "MQ 9.3 performance report, chapter 6: streaming on a saturated log: rate up to 70% higher "
        "for messages to 64 KB, 2 to 6% from 1 MB",
        "MQ 9.3 performance report, appendix A: 380 MB/s per copy with 4 stripes",
        "IBM MQ development blog, 2017, Does your z/OS queue manager have enough active log "
        "space?: active logs should last 12 to 24 hours; 3 logs that fill in 30 minutes each last "
        "90 minutes",
        "IBM documentation, log data sets: each copy has 2 to 310 active logs",
    ),
    "One queue manager, the current mix and size of messages, no bypass of the storage cache. A "
    "rate for more than twice the measured pages per I/O is only an order of magnitude. The same "
    "applies to a rate with more stripes, which assumes that stripes share the pages of an I/O. "
    "Both rates require the I/O time by length (--one-page-us, --more-pages, --more-pages-us).",
    (
        "the performance of the disks beyond the measured I/Os",
        "log records of two-phase commit, if log bytes are estimated from message sizes",
        "stripes and mirroring of the log: not in SMF",
        "size and number of active logs (DISPLAY LOG, CSQJU004), and their current use",
    ),
    "START TRACE(STAT) CLASS(1)",
)
