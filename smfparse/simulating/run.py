"""Simulate an estate chunk by chunk, and write its dump; memory does not grow with the days.

The load varies over the day, the week and the month, and grows over the year. The answer key of an
estate contains its problems with their times, and puts and gets by application.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout.clocks import UNIX_EPOCH, US_PER_SECOND
from smfparse.layout.columns import version_key
from smfparse.rendering.document import Column, Document, Facts, Section, Table
from smfparse.schemas import REGISTRY
from smfparse.simulating.accounting import Accounting
from smfparse.simulating.channels import Movers
from smfparse.simulating.chunk import Chunk, Reporters
from smfparse.simulating.declaration import (
    INCIDENTS,
    Application,
    Curve,
    Estate,
    Incident,
    check_times,
)
from smfparse.simulating.draws import Draws, Floats, Ints
from smfparse.simulating.engine import Engine
from smfparse.simulating.managers import Managers
from smfparse.simulating.plan import NONE, Plan, begins, effects, placed, times_of, window
from smfparse.simulating.queue_statistics import QueueStatistics
from smfparse.simulating.records import Envelope, Numbers, RecordParts, is_written, write_dump
from smfparse.simulating.storage import storage_records

_US = dt.timedelta(microseconds=1)
_DAY_US = dt.timedelta(days=1) // _US
_EVEN, _UNEVEN = 0.02, 0.1
"""Maximum deviation of arrivals from their mean, as a share: work of programs, of people."""
_SATURDAY = 5
_LAST_DAYS = 28
"""Day of the month from which days count as the end of the month."""
CHUNK_ROWS = 2_000
"""Approximate number of task rows of a chunk: 15 to 30 MB of records."""
_DAY = dt.timedelta(days=1)
_VERSION, _FIRST_VERSION = re.compile(r"\d+(\.\d+){0,2}"), (8,)
_FIRST_OF_KIND = 2_000
"""Number of the first record of each kind, as if the queue manager had already run for days."""


def demand(plan: Plan, begin: Floats, length: float, factor: Floats, draws: Draws) -> Ints:
    """Return the units that become due, by interval and work; 0 for works without a rate.

    begin   starts of intervals, microseconds from the start of the estate
    length  length of every interval, microseconds
    factor  factors on the rates, by interval and work
    """
    estate = plan.estate
    middle = begin + length / 2
    share = {name: _level(curve, estate, middle) for name, curve in estate.curves.items()}
    growth = 1 + estate.growth * middle / _DAY_US
    units = np.zeros((len(begin), len(plan.app)), np.int64)
    for work in np.flatnonzero(plan.source == NONE):
        app = estate.applications[plan.app[work]]
        curve = share.get(app.curve, np.ones(len(begin)))
        present = overlap(app, estate, begin, length)
        noise = draws.near(len(begin), _deviation(estate, app)) * draws.near(len(begin), _EVEN)
        mean = plan.rate[work] * curve * growth * present * factor[:, work] * length / 1e6
        units[:, work] = np.floor(mean * noise + draws.uniform(len(begin)))
    return units


def _deviation(estate: Estate, app: Application) -> float:
    """Return the maximum deviation of arrivals: _EVEN for a constant curve, otherwise _UNEVEN."""
    curve = estate.curves.get(app.curve)
    return _EVEN if curve is None or len(set(curve.shares)) == 1 else _UNEVEN


def presence(plan: Plan, begin: Floats, length: float) -> Floats:
    """Return the share of each interval in which the application of each work runs."""
    estate = plan.estate
    shares = [overlap(each, estate, begin, length) for each in estate.applications]
    present: Floats = np.stack(shares, axis=1)[:, plan.app]
    return present


def overlap(app: Application, estate: Estate, begin: Floats, length: float) -> Floats:
    """Return the share of each interval in which an application runs."""
    if not app.window:
        return np.ones(len(begin))
    first, last = window(app)
    at = (begin + since_midnight(estate)) % _DAY_US
    share: Floats = np.clip(np.minimum(at + length, last) - np.maximum(at, first), 0, None) / length
    return share


def since_midnight(estate: Estate) -> float:
    """Return the time of day at which an estate starts, in microseconds."""
    return (estate.start - estate.start.replace(hour=0, minute=0, second=0, microsecond=0)) / _US


def _level(curve: Curve, estate: Estate, middle: Floats) -> Floats:
    at = middle + since_midnight(estate)
    hours = at % _DAY_US / _DAY_US * 24
    share: Floats = np.interp(hours, curve.hours, curve.shares, period=24)
    first = estate.start.date()
    days = [first + dt.timedelta(days=int(day)) for day in at // _DAY_US]
    weekend = np.array([day.weekday() >= _SATURDAY for day in days])
    last = np.array([day.day >= _LAST_DAYS for day in days])
    return share * np.where(weekend, curve.weekend, 1) * np.where(last, curve.month_end, 1)


def stretches(plan: Plan, incidents: list[Incident], length: int) -> list[Ints]:
    """Return the stretches of each application: the periods in which it is connected.

    Each stretch is a row (from, to), in microseconds from the start of the estate.

    length  length of the simulated time, microseconds
    """
    apps = plan.estate.applications
    return [np.array(_connected(each, plan.estate, incidents, length), np.int64) for each in apps]


def _connected(
    app: Application, estate: Estate, incidents: list[Incident], length: int
) -> list[tuple[int, int]]:
    """Return the stretches of an application, without the time of incidents that end it."""
    found = _planned(app, estate, length)
    for each in incidents:
        ends = {"restart": app.queue_manager, "backlog": app.name}
        if ends.get(each.kind) == each.target:
            down, up = times_of(estate, each)
            parts = [part for a, b in found for part in ((a, min(b, down)), (max(a, up), b))]
            found = [(a, b) for a, b in parts if a < b]
    return found or [(0, 0)]


def _planned(app: Application, estate: Estate, length: int) -> list[tuple[int, int]]:
    """Return the planned stretches of an application: the whole time, or its window of each day."""
    if not app.window:
        return [(0, length)]
    first, last = window(app)
    early = since_midnight(estate)
    days = range(-int(early > 0), int(length // _DAY_US) + 2)
    found = [
        (max(int(day * _DAY_US + first - early), 0), min(int(day * _DAY_US + last - early), length))
        for day in days
    ]
    return [(begin, end) for begin, end in found if begin < end]


class Run:
    """The work in all intervals of an estate, chunk by chunk."""

    def __init__(self, estate: Estate, seed: int) -> None:
        _check(estate)
        self.estate, self.seed, self.plan = estate, seed, Plan(estate)
        self.incidents = placed(self.plan)
        self.length = estate.interval // _US
        self.count = max(estate.days * _DAY // estate.interval, 1)
        self._stretches = stretches(self.plan, self.incidents, self.count * self.length)
        self.start = (estate.start - estate.utc_offset - UNIX_EPOCH) // _US

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks; each chunk has a whole number of accounting intervals."""
        engine = Engine(self.plan, self.length / 1e6)
        tasks = sum(each.tasks for each in self.estate.applications)
        longer = self.plan.several
        several = max(CHUNK_ROWS // max(tasks, 1) // longer, 1) * longer
        for first in range(0, self.count, several):
            yield self._chunk(engine, first, min(several, self.count - first))

    def starts(self, manager: int) -> Ints:
        """Return the times at which a queue manager restarts, microseconds since 1970, in UTC."""
        name = self.plan.names[manager]
        ends = [
            times_of(self.estate, each)[1]
            for each in self.incidents
            if each.kind == "restart" and each.target == name
        ]
        return self.start + np.array(sorted(ends), np.int64)

    def _chunk(self, engine: Engine, first: int, times: int) -> Chunk:
        around = (first - 1 + np.arange(times + 2, dtype=np.float64)) * self.length
        wide = effects(self.plan, self.incidents, around, self.length)
        bent = wide.inner()
        draws = Draws(self.seed, 1 + first)
        present = presence(self.plan, around, self.length)
        bent.capacity *= present[1:-1]
        bent.lasts = present[2:] > 0
        bent.rate *= 1 - bent.down[:, self.plan.manager]
        due = demand(self.plan, around[1:-1], self.length, bent.rate, draws)
        return Chunk(
            plan=self.plan,
            did=engine.run(due, bent, draws),
            effects=bent,
            down=wide.down,
            stretches=self._stretches,
            begin=self.start + around[1:-1].astype(np.int64),
            length=self.length,
            first=first,
            seed=self.seed,
        )


def _check(estate: Estate) -> None:
    check_times(estate.start, estate.utc_offset, estate.interval)
    acctime = estate.acctime or estate.interval
    if acctime % estate.interval or not acctime <= _DAY:
        raise RequestError(f"acctime {acctime}: must be a multiple of the interval, up to 24 hours")
    known = _VERSION.fullmatch(estate.version) is not None
    if not known or version_key(estate.version) < _FIRST_VERSION:
        raise RequestError(f"MQ version {estate.version}: scenarios require MQ 8.0.0 or later")


def simulate(target: Path | BinaryIO, estate: Estate, seed: int = 1) -> None:
    """Write the SMF dump of an estate; the same estate and seed give the same bytes.

    Raises RequestError for an impossible estate, OutputError if the dump cannot be written.
    """
    run = Run(estate, seed)
    systems = [each.system for each in estate.queue_managers]
    plan = run.plan
    envelope = Envelope(systems, plan.names, estate.version, plan.offset, run.length, estate.group)
    numbers = Numbers([run.starts(each) for each in range(len(systems))], _FIRST_OF_KIND)
    most = envelope.most_queues()
    batches = (numbers.numbered([*_kinds(chunk, most)]) for chunk in run.chunks())
    end = run.start + run.count * run.length + US_PER_SECOND
    write_dump(target, envelope, run.start, end, batches)


def _kinds(chunk: Chunk, most: int) -> Iterator[RecordParts]:
    """Yield the records of a chunk, without blocks that this MQ version does not write."""
    reporters, accounting = Reporters(chunk), Accounting(chunk, most)
    version = chunk.plan.estate.version
    for kind in (
        *Managers(chunk, reporters, accounting).records(),
        *QueueStatistics(chunk, reporters, accounting).records(),
        *storage_records(chunk, reporters, accounting),
        *Movers(chunk, reporters, accounting).records(),
        *accounting.records(),
    ):
        known = REGISTRY[kind.record]
        blocks = {
            number: of
            for number, of in kind.blocks.items()
            if is_written(kind.record, known[number], version)
        }
        if blocks and len(kind.writers.when):
            yield replace(kind, blocks=blocks)


_ANSWERS = ("rule", "qmgr", "object", "job", "start", "end")
_EDGES = ("application", "job", "role", "queue", "puts", "gets", "per_second")

_RESTART = "SMF-RESTART"
_RULES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "log-slow": (("D2", ""), ("LOG-RESPONSE", ""), ("TASK-LOG-WAIT", "jobs")),
    "backlog": (
        ("D5", "queue"),
        ("Q-GROW", "queue"),
        ("Q-NO-GETTER", "queue"),
        ("Q-STUCK", "queue"),
    ),
    "surge": (("Q-GROW", "queue"),),
    "poison": (("D17", "queue"), ("Q-ROLLBACK", "queue"), ("TASK-BACKOUT", "jobs")),
    "scan": (
        ("D6", "queue"),
        ("QUEUE-INDEX", "queue"),
        ("QUEUE-SKIPPED", "queue"),
        ("DATA-SCROLL", ""),
    ),
    "storm": (("D8", "channel"),),
    "restart": ((_RESTART, ""),),
    "smf-loss": (("SMF-GAP", ""),),
    "network-slow": (("CHL-NETTIME", "channel"), ("D12", "channel")),
    "small-batch": (("CHL-BATCH-FULL", "channel"), ("D12", "channel")),
    "streaming": (("D16", "queue"),),
    "cf-slow": (("D14", "structure"), ("CF-SLOW", "structure")),
    "storage-leak": (("CHINIT-31-TREND", ""),),
}
"""Triggered rules by kind of incident, each rule with the kind of name in its finding."""
_FEW = 5
"""Maximum messages per unit of work for which the time in MQ is mostly the wait for the log."""


class AnswerKey(Document):
    """The answer key: problems of an estate, and puts and gets of its applications."""

    title = "Answer key"

    def __init__(self, estate: Estate, seed: int = 1) -> None:
        self._estate, self._run = estate, Run(estate, seed)

    def answers(self) -> list[dict[str, str]]:
        """Return one row per triggered rule: rule, object, job, start and end."""
        listed = [each for each in self._run.incidents if each.listed]
        found = [row for each in listed for row in _of_incident(self._run.plan, each)]
        return found + [_of_site(self._estate, each) for each in self._estate.answers]

    def edges(self) -> list[dict[str, Any]]:
        """Return the puts and gets of each application on each queue, over the simulated time."""
        plan, run = self._run.plan, self._run
        put, got = np.zeros(len(plan.edge_work)), np.zeros(len(plan.app))
        for chunk in run.chunks():
            put += chunk.did["put"].sum(axis=0)
            got += chunk.did["units"].sum(axis=0)
        seconds = run.count * run.length / 1e6
        found = []
        for slot, (puts, gets) in enumerate(
            zip(put @ plan.slot_puts, got @ plan.slot_gets, strict=True)
        ):
            app = self._estate.applications[plan.slot_app[slot]]
            queue = self._estate.queues[plan.slot_queue[slot]]
            rate = round((int(puts) + int(gets)) / seconds, 3)
            values = (app.name, app.job, _role(app), queue.name, int(puts), int(gets), rate)
            found.append(dict(zip(_EDGES, values, strict=True)))
        return found

    def sections(self) -> Iterator[Section]:
        """Yield the story of the site, the answers, and the puts and gets."""
        answers = [[row[name] for name in _ANSWERS] for row in self.answers()]
        edges = [[_shown(row[name]) for name in _EDGES] for row in self.edges()]
        columns = [Column(name, name in ("puts", "gets", "per_second")) for name in _EDGES]
        yield Section(self._estate.name, notes=[" ".join(self._estate.story.split())])
        wrong = [Table([Column(name) for name in _ANSWERS], answers)] if answers else []
        yield Section("Problems", wrong, [] if answers else ["None."])
        yield Section("Puts and gets by application", [Table(columns, edges)])

    def facts(self) -> Iterator[Facts]:
        """Yield the answers as rows, after the story and the puts and gets."""
        head = {"scenario": self._estate.name, "story": " ".join(self._estate.story.split())}
        yield Facts(head | {"edges": self.edges()}, self.answers())


def _of_site(estate: Estate, answer: Mapping[str, str]) -> dict[str, str]:
    """Return an answer that the estate declares; the default time is the whole simulated time."""
    begin, end = estate.start, estate.start + dt.timedelta(days=estate.days)
    row = {"qmgr": estate.queue_managers[0].name, "object": "", "job": "", **answer}
    row["start"] = _moment(begin, row.get("start", ""), begin)
    row["end"] = _moment(begin, row.get("end", ""), end)
    return {name: row[name] for name in _ANSWERS}


def _moment(day: dt.datetime, time: str, otherwise: dt.datetime) -> str:
    if not time:
        return otherwise.isoformat(timespec="minutes")
    return f"{day.date().isoformat()}T{time}"


def _of_incident(plan: Plan, incident: Incident) -> Iterator[dict[str, str]]:
    begin = begins(plan.estate, incident)
    held = begin, begin + incident.length
    qmgr, queue, jobs = _affected(plan, incident)
    for rule, names in _RULES[incident.kind]:
        times = _first_interval(plan.estate, held[1]) if rule == _RESTART else held
        start, end = (each.isoformat(timespec="minutes") for each in times)
        thing = _named(plan, incident, names, queue)
        for job in jobs if names else [""]:
            yield dict(zip(_ANSWERS, (rule, qmgr, thing, job, start, end), strict=True))


def _first_interval(estate: Estate, up: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    """Return the interval from `up`, the start of a queue manager, to the next boundary."""
    return up, up + estate.interval - (up - estate.start) % estate.interval


def _named(plan: Plan, incident: Incident, names: str, queue: str) -> str:
    if names == "channel":
        apps = {each.name: each.channel for each in plan.estate.applications}
        name = apps[incident.target] if incident.kind == "storm" else incident.target
        return plan.estate.channels[plan.channel_no[name]].shown
    return {"": "", "jobs": "", "queue": queue}.get(names, incident.target)


def _affected(plan: Plan, incident: Incident) -> tuple[str, str, list[str]]:
    affects, apps = INCIDENTS[incident.kind].affects, plan.estate.applications
    if affects == "queue manager":
        mine = [each for each in apps if each.queue_manager == incident.target and each.persistent]
        waits = [each for each in mine if 0 < each.commit <= _FEW and not each.window]
        return incident.target, "", sorted({each.job for each in waits})
    if affects in ("queue", "indexed queue", "streaming queue"):
        queue = plan.estate.queues[plan.queue_no[incident.target]]
        uses = "put" if affects == "streaming queue" else "get"
        users = [each for each in apps if incident.target in getattr(each, uses)]
        return queue.queue_manager, queue.name, [each.job for each in users[:1]]
    if affects == "sender channel":
        channel = plan.estate.channels[plan.channel_no[incident.target]]
        return channel.queue_manager, "", [""]
    if affects == "structure":
        return plan.names[0], "", [""]
    app = next(each for each in apps if each.name == incident.target)
    return app.queue_manager, next(iter((*app.get, *app.put)), ""), [app.job]


def _role(app: Application) -> str:
    if app.rate:
        return "requester" if app.get else "sender"
    return "server" if app.put else "consumer"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
