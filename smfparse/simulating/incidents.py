"""Incidents: each kind, its target, and its effect on the work."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from smfparse.errors import RequestError
from smfparse.simulating.declaration import INCIDENTS, Application, Estate, Incident
from smfparse.simulating.draws import Floats
from smfparse.simulating.plan import NONE, Plan
from smfparse.simulating.reading_toml import unknown

_US = dt.timedelta(microseconds=1)
_DAY = dt.timedelta(days=1)


_MOSTLY = 0.5
"""Share of an interval from which on it is taken to be all of it."""


class Effects:
    """How the incidents bend the work of some intervals: a row an interval.

    rate, capacity  factors on what works have to do, and can
    lasts           whether works go on in the next interval
    log             factors on the times of log writes
    cf              factors on the times of requests to structures, by queue
    rolled          units a second that are backed out, by work
    unindexed       share of the interval in which a queue has no index
    orphaned        share of the messages that nobody takes, by queue
    brief           messages a connection of an application's clients, 0: as declared
    down, lost      share of the interval that a queue manager is down, or its records are lost
    batch           batch sizes of channels, 0: as declared
    streams         whether a queue streams, 1 or 0
    network         factors on the round trips of channels
    leaked          megabytes that were lost by a channel initiator so far
    """

    def __init__(self, plan: Plan, times: int) -> None:
        def ones(columns: int) -> Floats:
            return np.ones((times, columns))

        managers, works, queues = len(plan.names), len(plan.app), len(plan.queue_no)
        applications = len(plan.estate.applications)
        self.rate, self.capacity = ones(works), ones(works)
        self.lasts = ones(works) > 0
        self.log, self.cf = ones(managers), ones(queues)
        self.network = ones(len(plan.channel_no))
        self.batch = 0 * ones(len(plan.channel_no))
        self.streams = ones(queues)
        self.rolled = 0 * ones(works)
        self.unindexed, self.orphaned = 0 * ones(queues), 0 * ones(queues)
        self.brief = 0 * ones(applications)
        self.down, self.lost = 0 * ones(managers), 0 * ones(managers)
        self.leaked = 0 * ones(managers)

    def inner(self) -> Effects:
        """Return the effects without the first and the last interval."""
        found = copy.copy(self)
        vars(found).update({name: values[1:-1] for name, values in vars(self).items()})
        return found


@dataclass(frozen=True)
class Place:
    """Where an incident happens: its overlap with each interval (0 to 1), and what it befalls.

    hours  that it lasted so far, at the end of each interval
    """

    plan: Plan
    overlap: Floats
    hours: Floats
    target: str
    factor: float


def _log_slow(place: Place, effects: Effects) -> None:
    effects.log[:, _manager(place)] *= 1 + (place.factor - 1) * place.overlap


def _stop(place: Place, effects: Effects) -> None:
    works = place.plan.app == _application(place)
    effects.capacity[:, works & (place.plan.source != NONE)] *= (1 - place.overlap)[:, None]


def _more(place: Place, effects: Effects) -> None:
    works = place.plan.app == _application(place)
    effects.rate[:, works] *= (1 + (place.factor - 1) * place.overlap)[:, None]


def _poison(place: Place, effects: Effects) -> None:
    queue = place.plan.queue_no[place.target]
    works = np.flatnonzero(place.plan.source == queue)
    effects.rolled[:, works[:1]] += (place.factor * place.overlap)[:, None]


def _scan(place: Place, effects: Effects) -> None:
    queue = place.plan.queue_no[place.target]
    effects.unindexed[:, queue] = place.overlap
    effects.orphaned[:, queue] = place.factor * place.overlap


def _storm(place: Place, effects: Effects) -> None:
    effects.brief[:, _application(place)] = np.where(place.overlap > 0, place.factor, 0)


def _restart(place: Place, effects: Effects) -> None:
    effects.down[:, _manager(place)] = place.overlap


def _smf_loss(place: Place, effects: Effects) -> None:
    effects.lost[:, _manager(place)] = place.overlap


def _network(place: Place, effects: Effects) -> None:
    channel = place.plan.channel_no[place.target]
    effects.network[:, channel] *= 1 + (place.factor - 1) * place.overlap


def _small_batch(place: Place, effects: Effects) -> None:
    channel = place.plan.channel_no[place.target]
    effects.batch[:, channel] = np.where(place.overlap > _MOSTLY, place.factor, 0)


def _streaming(place: Place, effects: Effects) -> None:
    queue = place.plan.queue_no[place.target]
    effects.streams[:, queue] = place.overlap > _MOSTLY


def _cf_slow(place: Place, effects: Effects) -> None:
    mine = [each.structure == place.target for each in place.plan.estate.queues]
    effects.cf[:, mine] *= (1 + (place.factor - 1) * place.overlap)[:, None]


def _leak(place: Place, effects: Effects) -> None:
    effects.leaked[:, _manager(place)] += place.factor * place.hours


_BENDS: Mapping[str, Callable[[Place, Effects], None]] = {
    "log-slow": _log_slow,
    "backlog": _stop,
    "surge": _more,
    "poison": _poison,
    "scan": _scan,
    "storm": _storm,
    "restart": _restart,
    "smf-loss": _smf_loss,
    "network-slow": _network,
    "small-batch": _small_batch,
    "streaming": _streaming,
    "cf-slow": _cf_slow,
    "storage-leak": _leak,
}


def placed(plan: Plan) -> list[Incident]:
    """Return the incidents of an estate, with what they befall and how bad they are."""
    found = []
    for each in plan.estate.incidents:
        kind = INCIDENTS[each.kind]
        known = _candidates(plan, kind.befalls)
        if each.target and each.target not in known:
            raise unknown(f"incident {each.kind}, {kind.befalls}", each.target, known)
        if not known:
            raise RequestError(f"incident {each.kind}: {plan.estate.name} has no {kind.befalls}")
        target, factor = each.target or known[0], each.factor or kind.factor
        found.append(replace(each, target=target, factor=factor))
    return found


def begins(estate: Estate, incident: Incident) -> dt.datetime:
    """Return when an incident begins, local time."""
    midnight = estate.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + incident.day * _DAY + incident.at


def effects(plan: Plan, incidents: list[Incident], begin: Floats, length: float) -> Effects:
    """Return how incidents bend the intervals that begin at some microseconds from the start."""
    found = Effects(plan, len(begin))
    for each in incidents:
        first = (begins(plan.estate, each) - plan.estate.start) / _US
        last = first + each.length / _US
        overlap = np.minimum(begin + length, last) - np.maximum(begin, first)
        share = np.clip(overlap / length, 0, 1)
        hours = np.clip(np.minimum(begin + length, last) - first, 0, None) / 3.6e9
        place = Place(plan, share, hours, each.target, each.factor)
        _BENDS[each.kind](place, found)
    return found


def _candidates(plan: Plan, befalls: str) -> list[str]:
    """Return the names that an incident can befall; the one that fits best is the first."""
    estate = plan.estate
    apps = sorted(estate.applications, key=lambda each: -each.rate)
    clients = {each.name for each in estate.channels if each.type == "server-connection"}
    return {
        "queue manager": plan.names,
        "consumer": [each.name for each in _consumers(estate)],
        "application": [each.name for each in apps if each.rate],
        "client": [each.name for each in apps if each.channel in clients],
        "queue": [each.get[0] for each in _consumers(estate)],
        "indexed queue": [name for each in apps if each.by_id for name in each.get],
        "streaming queue": [each.name for each in estate.queues if each.stream],
        "structure": sorted({each.structure for each in estate.queues if each.structure}),
        "sender channel": [each.name for each in estate.channels if each.type.endswith("sender")],
    }[befalls]


def _consumers(estate: Estate) -> list[Application]:
    """Return the applications that take what others bring: transactional ones first."""
    found = [each for each in estate.applications if each.get and not each.rate]
    found = [each for each in found if each.kind != "channel" and len(each.get) == 1]
    return sorted(found, key=lambda each: (each.kind == "batch", not each.persistent))


def _manager(place: Place) -> int:
    return place.plan.names.index(place.target)


def _application(place: Place) -> int:
    names = [each.name for each in place.plan.estate.applications]
    return names.index(place.target)
