"""The cost of accounting and statistics data: records, bytes, CPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, said

GATHER_US = 0.5
"""CPU microseconds per API call for accounting class 3."""
RECORD_US = (4.0, 36.0)
"""CPU microseconds of writing a record with few queues, and with many queues."""
WRITES = {"data-set": 1.0, "logstream": 2.0, "compressed-logstream": 7.6}
"""Maximum record rate of each destination, relative to a data set."""
QUEUE_BYTES, QUEUES_A_RECORD = 84, 341
"""Bytes per queue, and queues per record, of class 5 statistics at MQ 9.3.0."""
CLASS_5 = "START TRACE(STAT) CLASS(5)"
DAY_S = 86_400
MB = 1 << 20


def gathering_us(calls: float) -> float:
    """Return the CPU microseconds of gathering accounting data for a number of API calls."""
    return GATHER_US * calls


def writing_us(records: float, queues: str = "few") -> float:
    """Return the CPU microseconds of writing records of tasks with few or many queues."""
    return records * RECORD_US[queues == "many"]


def queue_records(queues: int, bytes_each: float = QUEUE_BYTES) -> int:
    """Return the number of class 5 records per interval, with `bytes_each` bytes per queue."""
    return -(-queues // int(QUEUE_BYTES * QUEUES_A_RECORD // bytes_each))


@dataclass(frozen=True)
class Smf(Asked):
    """Inputs; the defaults are IBM's example."""

    calls_a_second: Annotated[
        float, Ask("API calls per second", measured="calls of all verbs, in wqst and wtas")
    ] = 100
    tasks: Annotated[
        float, Ask("Tasks that run longer than the interval", measured="mean of the intervals")
    ] = 1
    interval: Annotated[
        float, Ask("ACCTIME", "seconds", low=1, high=DAY_S, measured="typical interval of a record")
    ] = 60
    new_interval: Annotated[float, Ask("Proposed ACCTIME", "seconds", low=1, high=DAY_S)] = 15
    task_queues: Annotated[
        str, Ask("Queues per task, few (2 to 4) or many", among=("few", "many"))
    ] = "few"
    task_records: Annotated[
        float, Ask("Records per task and interval", low=1, measured="116/1 and 116/2 over 116/1")
    ] = 1
    record_bytes: Annotated[
        float, Ask("Bytes per record", "bytes", low=1, measured="bytes of 116/1 and 116/2")
    ] = 5120
    queues: Annotated[
        int,
        Ask(
            "Queues with class 5 statistics",
            measured="most qqst rows of an interval",
            needs=CLASS_5,
        ),
    ] = 0
    statime: Annotated[
        float,
        Ask(
            *("STATIME, the interval of class 5", "seconds", 1, DAY_S),
            measured="typical interval of qqst",
            needs=CLASS_5,
        ),
    ] = 1800
    bytes_a_queue: Annotated[
        float,
        Ask(
            "Bytes per queue in the records of class 5",
            "bytes",
            low=1,
            high=QUEUE_BYTES * QUEUES_A_RECORD,
            measured="bytes of 115/216 over its rows",
            needs=CLASS_5,
        ),
    ] = QUEUE_BYTES
    destination: Annotated[str, Ask("Destination of the records", among=tuple(WRITES))] = "data-set"
    retention_days: Annotated[float, Ask("Retention of the data", "days")] = 0
    msu: Annotated[float | None, Ask("MSU of the machine", low=0.1)] = None
    cps: Annotated[int, Ask("Processors of the machine", low=1, high=400)] = 1


def _of_interval(asked: Smf, interval: float, name: str, label: str) -> list[Figure]:
    records = asked.tasks * asked.task_records * 60 / interval
    each = "" if asked.task_records == 1 else f" x {said(asked.task_records)}"
    gathered = gathering_us(asked.calls_a_second * 60)
    written = writing_us(records, asked.task_queues)
    return [
        Figure(
            *(f"{name}_us_a_minute", f"CPU of accounting per minute, {label}", gathered + written),
            "us",
            f"0.5 x {said(asked.calls_a_second * 60)} + {said(written / records if records else 0)}"
            f" x {said(records)}",
        ),
        Figure(
            *(f"{name}_cpu_s_a_day", f"CPU per day, {label}", (gathered + written) * 1440e-6),
            *("s", "x 1,440 minutes / 1,000,000", 2),
        ),
        Figure(
            *(f"{name}_records_a_day", f"Records per day, {label}", records * 1440, ""),
            f"{said(asked.tasks)}{each} x 86,400 / {said(interval)}",
        ),
        Figure(
            f"{name}_mb_a_day",
            f"MB per day, {label}",
            records * 1440 * asked.record_bytes / MB,
            *("MB", f"{said(records * 1440)} x {said(asked.record_bytes)} / 1,048,576", 1),
        ),
    ]


def _figures(asked: Smf) -> Sequence[Figure]:
    now = _of_interval(asked, asked.interval, "now", "current")
    new = _of_interval(asked, asked.new_interval, "new", "proposed")
    percent = (new[0].value / now[0].value - 1) * 100 if now[0].value else 0.0
    found = [
        *now,
        *new,
        Figure(
            *("more_cpu_percent", "CPU change", percent, "%"),
            *(f"({said(new[0].value)} / {said(now[0].value)} - 1) x 100", 3),
        ),
        Figure(
            *("more_records", "Records, relative to now", asked.interval / asked.new_interval),
            *("x", f"{said(asked.interval)} / {said(asked.new_interval)}", 2),
        ),
    ]
    if asked.retention_days:
        kept = new[3].value * asked.retention_days / 1024
        formula = f"{said(asked.retention_days)} x {said(new[3].value)} / 1024"
        found.append(Figure("kept_gb", "Retained data", kept, "GB", formula, 2))
    return [*found, *_rest(asked, new[1].value)]


def _rest(asked: Smf, cpu_s: float) -> list[Figure]:
    speed = WRITES[asked.destination]
    found = [Figure("speed", "Record rate relative to data sets", speed, "x", "", 1)]
    if asked.queues:
        found += _queues(asked)
    if asked.msu is not None:
        hours = cpu_s / 3600 * asked.msu / asked.cps
        formula = f"{said(cpu_s)} / 3600 x {said(asked.msu)} / {asked.cps}"
        found.append(Figure("msu_hours_a_day", "MSU hours per day", hours, "MSU-h", formula, 4))
    return found


def _queues(asked: Smf) -> list[Figure]:
    each = asked.bytes_a_queue
    records, size = queue_records(asked.queues, each), asked.queues * each
    times = DAY_S / asked.statime
    return [
        Figure(
            *("queue_records", "Records of class 5 per interval", records, ""),
            f"ceil({asked.queues} / floor({QUEUE_BYTES} x {QUEUES_A_RECORD} / {said(each)}))",
        ),
        Figure(
            *("queue_bytes", "Bytes of queues in records of class 5", size, "bytes"),
            f"{asked.queues} x {said(each)}",
        ),
        Figure(
            *("queue_records_a_day", "Records of class 5 per day", records * times, ""),
            f"{records} x 86,400 / {said(asked.statime)}",
        ),
        Figure(
            *("queue_mb_a_day", "MB of class 5 per day", size * times / MB, "MB"),
            *(f"{said(size)} x 86,400 / {said(asked.statime)} / 1,048,576", 1),
        ),
    ]


PLANNER = Planner(
    "smf",
    "Cost of accounting with another interval",
    Smf,
    _figures,
    (
        "MQ 9.3 performance report, chapter 4: 100 puts per second: 3,004 us per minute with "
        "ACCTIME(1.00), 3,016 with ACCTIME(0.15): 0.4% more",
        "MQ 9.3 performance report, chapter 4: relative record rates: data set 1, logstream 2, "
        "compressed logstream 7.6",
        "MQ 9.3 performance report, chapter 5: 84 bytes per queue, 341 queues per record (9.3.0)",
    ),
    "Tasks that live longer than the interval. Records of shorter tasks, and of class 1, do not "
    "change. Class 4 costs an additional 1 to 2% of the CPU of the channel initiator. Statistics "
    "of class 5 cost about ten us for 1,000 queues, less than PCF commands for 4 queues or more.",
    (
        "the cost of SMF writes and of compression",
        "monitoring of zCX: 2 to 4 CPU seconds per minute, 0.6 with housekeeping every 10 s",
    ),
    "START TRACE(ACCTG) CLASS(3)",
)
