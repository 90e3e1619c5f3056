"""The answer key of a site: problems with their times, and puts and gets by application."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from smfparse.rendering.document import Column, Document, Facts, Section, Table
from smfparse.simulating.declaration import INCIDENTS, Application, Estate, Incident
from smfparse.simulating.incidents import begins
from smfparse.simulating.plan import Plan
from smfparse.simulating.run import Run

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
"""By kind of incident: the rules that it triggers, each with the kind of name in its finding."""
_FEW = 5
"""Maximum messages per unit of work for which the time in MQ is mostly the wait for the log."""


class AnswerKey(Document):
    """The problems of an estate, and the puts and gets of its applications."""

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
        """Yield the answers and the edges, below the story of the site."""
        answers = [[row[name] for name in _ANSWERS] for row in self.answers()]
        edges = [[_shown(row[name]) for name in _EDGES] for row in self.edges()]
        columns = [Column(name, name in ("puts", "gets", "per_second")) for name in _EDGES]
        yield Section(self._estate.name, notes=[" ".join(self._estate.story.split())])
        wrong = [Table([Column(name) for name in _ANSWERS], answers)] if answers else []
        yield Section("Problems", wrong, [] if answers else ["None."])
        yield Section("Puts and gets by application", [Table(columns, edges)])

    def facts(self) -> Iterator[Facts]:
        """Yield the answers as rows, with the story and the edges in front of them."""
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
    """Return the interval from a start of a queue manager, `up`, to the next interval boundary."""
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
