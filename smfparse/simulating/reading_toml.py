"""A site read from TOML: a built-in scenario or a file of the user, which may extend a scenario.

Messages about wrong keys and names suggest similar names.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import difflib
import functools
import re
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from smfparse.errors import RequestError, did_you_mean
from smfparse.simulating.declaration import (
    APPLICATION_KINDS,
    CHANNEL_TYPES,
    INCIDENTS,
    INDEXES,
    ZHYPERWRITE,
    Agent,
    Application,
    Channel,
    Curve,
    Estate,
    Incident,
    Log,
    Mover,
    PageSet,
    Pool,
    Queue,
    QueueManager,
    Tables,
    of_agents,
    plain_queues,
)

_FOLDER = Path(__file__).parent / "scenarios"
_T = TypeVar("_T")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}
_PLAIN = {int: (int,), float: (int, float), str: (str,), bool: (bool,)}
_MOST_DAYS = 366
_WORDS = {
    int: "a number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    list: "a list of tables",
    dict: "a table",
    dt.datetime: "a local time: 2026-03-04T09:00:00 (without quotes)",
}
_TABLES: Mapping[str, type] = {
    **dict.fromkeys(("site", "curves", "queue_managers", "queues", "channels"), dict),
    **dict.fromkeys(("applications", "agents"), dict),
    **dict.fromkeys(("incidents", "answers"), list),
}
"""Type of the value of each top-level key: a table, or a list of tables."""
_MOST = 10**9
_AT_LEAST_ONE = {
    **dict.fromkeys(("buffers", "pages", "load", "stripes", "batch", "size", "chunk"), _MOST),
    **dict.fromkeys(("tasks", "transfers"), 10_000),
    **dict.fromkeys(("dispatchers", "adapters", "tls_tasks"), 1_000),
}
"""Maximum values of keys whose values must be 1 or more."""
_SEVERAL: Mapping[Any, tuple[type, type, str]] = {
    tuple[str, ...]: (list, str, "a list of texts"),
    Mapping[str, float]: (dict, float, "a table of numbers of 0 or more"),
    Mapping[str, str]: (dict, str, "a table of texts"),
}
"""Container, type of its values, and words for messages, by type of a field with several values."""

_SHOWN = 12
"""Maximum number of valid names that a message lists."""


def read_estate(name: str, data: Mapping[str, Any]) -> Estate:
    """Return the estate that a TOML document declares. Raises RequestError for wrong contents."""
    _known(data, _TABLES, name)
    tables = {key: data.get(key, kind()) for key, kind in _TABLES.items()}
    for key, kind in _TABLES.items():
        if not isinstance(tables[key], kind):
            raise RequestError(f"{name}: {key} must be {_WORDS[kind]}")
    queues, applications = _written_out(tables)
    estate = Estate(
        name=name,
        queue_managers=tuple(_queue_manager(*each) for each in tables["queue_managers"].items()),
        queues=_named(Queue, queues, "queue"),
        channels=_named(Channel, tables["channels"], "channel"),
        applications=_named(Application, applications, "application"),
        curves={each: _curve(each, of) for each, of in tables["curves"].items()},
        incidents=tuple(_incident(each) for each in tables["incidents"]),
        answers=tuple(_answer(each) for each in tables["answers"]),
        cluster_queues=tuple(name for name, each in tables["queues"].items() if "cluster" in each),
        **_site(tables["site"]),
    )
    _check(estate)
    return estate


def _written_out(tables: Mapping[str, Any]) -> tuple[Tables, Tables]:
    """Return the tables of queues and applications, including those that represent agents."""
    agents = _named(Agent, tables["agents"], "agent")
    for each in agents:
        if each.sends_to:
            _one_of(f"agent {each.name}, sends_to", each.sends_to, tables["agents"])
    queues, applications = of_agents(agents)
    queues, applications = queues | tables["queues"], applications | tables["applications"]
    _named(Queue, queues, "queue")
    _named(Application, applications, "application")
    return plain_queues(queues, applications)


def minutes(text: str) -> dt.timedelta:
    """Return the duration in a text: 30s, 10m, 1h."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise RequestError(f"{text!r} is not a duration; write 10m, 30s or 1h")
    return dt.timedelta(**{_UNITS[found[2]]: int(found[1])})


def clock_time(text: str) -> dt.timedelta:
    """Return the time of day in a text, such as 14:20."""
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)|24:00", text)
    if found is None:
        raise RequestError(f"{text!r} is not a time of day; write 14:20")
    hours, minute = text.split(":")
    return dt.timedelta(hours=int(hours), minutes=int(minute))


def incident(text: str) -> Incident:
    """Return the incident in a text: KIND@HH:MM/LENGTH or KIND:TARGET@HH:MM/LENGTH."""
    found = re.fullmatch(r"([a-z-]+)(?::([^@]+))?@([^/]+)/(.+)", text)
    if found is None:
        raise RequestError(f"incident {text!r}: write log-slow@14:20/30m")
    return _incident(
        {"kind": found[1], "at": found[3], "length": found[4], "target": found[2] or ""}
    )


def offset(text: str) -> dt.timedelta:
    """Return local time minus UTC, from a text such as -04:00."""
    found = re.fullmatch(r"([+-])(\d\d):(\d\d)", text)
    if found is None:
        raise RequestError(f"{text!r} is not an offset; write -04:00 or +05:30")
    length = dt.timedelta(hours=int(found[2]), minutes=int(found[3]))
    return -length if found[1] == "-" else length


def unknown(what: str, name: str, known: Iterable[str]) -> RequestError:
    """Return the error for an unknown name, with similar names."""
    there = list(known)
    near = difflib.get_close_matches(name, there, n=3, cutoff=0.5)
    more = ", ..." if len(there) > _SHOWN else ""
    names = f"{', '.join(there[:_SHOWN])}{more}"
    way_out = did_you_mean(near, f"use one of {names}")
    return RequestError(f"{what}: unknown name {name!r}; {way_out}")


def _site(site: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "story": "",
        "start": dt.datetime(2026, 3, 4),
        "days": 1,
        "interval": "10m",
        "acctime": "",
        "utc_offset": "+00:00",
        "version": "9.4.0",
        "growth": 0.0,
        "group": "",
    }
    _known(site, known, "[site]")
    for key, value in site.items():
        if type(value) not in _PLAIN.get(type(known[key]), (dt.datetime,)):
            raise RequestError(f"[site]: {key} = {value!r} must be {_WORDS[type(known[key])]}")
    values = known | dict(site)
    if not 1 <= site.get("days", 1) <= _MOST_DAYS:
        raise RequestError(f"[site]: days = {site['days']} must be from 1 to {_MOST_DAYS}")
    values["interval"] = minutes(str(values["interval"]))
    values["acctime"] = minutes(str(values["acctime"])) if values["acctime"] else None
    values["utc_offset"] = offset(str(values["utc_offset"]))
    return values


def _is_table(table: Any, where: str) -> None:
    if not isinstance(table, Mapping):
        raise RequestError(f"{where} must be a table")


def _known(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    _is_table(table, where)
    names = list(known)
    for key in table:
        if key not in names:
            raise unknown(where, key, names)


def _table(kind: type[_T], where: str, table: Mapping[str, Any], **given: Any) -> _T:
    hints = _hints(kind)  # type: ignore[arg-type]
    names = [each.name for each in dataclasses.fields(kind)]  # type: ignore[arg-type]
    _known(table, [each for each in names if each not in given], where)
    for key, value in table.items():
        wanted = _wanted(hints[key], value)
        if wanted:
            raise RequestError(f"{where}: {key} = {value!r} must be {wanted}")
        most = _AT_LEAST_ONE.get(key, 0)
        if most and not 1 <= value <= most:
            raise RequestError(f"{where}: {key} = {value!r} must be from 1 to {most:,}")
    values = {key: tuple(of) if isinstance(of, list) else of for key, of in table.items()}
    missing = [
        each.name
        for each in dataclasses.fields(kind)  # type: ignore[arg-type]
        if each.name not in values | given
        and each.default is dataclasses.MISSING
        and each.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise RequestError(f"{where}: missing {', '.join(missing)}")
    return kind(**given, **values)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a class; cached, because evaluation takes long."""
    return typing.get_type_hints(kind)


def _wanted(kind: Any, value: Any) -> str:
    """Return a phrase that describes values of type `kind`; "": the value is valid."""
    if kind in _SEVERAL:
        whole, each, words = _SEVERAL[kind]
        parts: Any = value.values() if isinstance(value, dict) else value
        if type(value) is not whole:
            return words
        return words if any(_wanted(each, part) for part in parts) else ""
    if kind not in _PLAIN:
        return ""
    if type(value) in _PLAIN[kind] and (isinstance(value, str) or 0 <= value <= _MOST):
        return ""
    number = kind in (int, float)
    return _WORDS[kind] + f", not negative, up to {_MOST:,}" * number


def _named(kind: type[_T], tables: Mapping[str, Mapping[str, Any]], what: str) -> tuple[_T, ...]:
    return tuple(_table(kind, f"{what} {name}", table, name=name) for name, table in tables.items())


def _queue_manager(name: str, table: Mapping[str, Any]) -> QueueManager:
    where = f"queue manager {name}"
    if _wanted(str, table.get("system", "") if isinstance(table, Mapping) else ""):
        raise RequestError(f"{where}: system must be a text")
    _known(table, ("system", "log", "channel_initiator", "pools", "page_sets"), where)
    return QueueManager(
        name=name,
        system=table.get("system", "SYSA"),
        log=_table(Log, f"{where}, log", table.get("log", {})),
        mover=_table(Mover, f"{where}, channel_initiator", table.get("channel_initiator", {})),
        pools=_numbered(Pool, f"{where}, pool", table.get("pools", {})),
        page_sets=_numbered(PageSet, f"{where}, page set", table.get("page_sets", {})),
    )


def _numbered(
    kind: type[_T], where: str, tables: Mapping[str, Mapping[str, Any]]
) -> tuple[_T, ...]:
    _is_table(tables, where)
    for number in tables:
        if not number.isdigit() or int(number) > 99:
            raise RequestError(f"{where} {number!r}: must be a number from 0 to 99")
    return tuple(
        _table(kind, f"{where} {number}", table, number=int(number))
        for number, table in tables.items()
    )


def _curve(name: str, table: Mapping[str, Any]) -> Curve:
    _known(table, ("points", "weekend", "month_end"), f"curve {name}")
    points = table.get("points", [[0, 1.0]])
    if not isinstance(points, list) or not points or any(_is_no_pair(each) for each in points):
        raise RequestError(f"curve {name}: points must be pairs of hour and share")
    hours, shares = zip(*points, strict=True)
    if list(hours) != sorted(hours) or not max(hours) <= 24:
        raise RequestError(f"curve {name}: hours must be from 0 to 24, in ascending order")
    factors = [table.get(each, 1.0) for each in ("weekend", "month_end")]
    if any(_wanted(float, each) for each in factors):
        raise RequestError(f"curve {name}: weekend and month_end must be numbers of 0 or more")
    return Curve(hours, shares, *factors)


def _is_no_pair(point: Any) -> bool:
    pair = isinstance(point, list) and len(point) == 2
    return not pair or any(_wanted(float, each) for each in point)


def _incident(table: Mapping[str, Any]) -> Incident:
    _is_table(table, "incident")
    values = dict(table)
    _one_of("incident", str(values.get("kind", "")), INCIDENTS)
    at, length = clock_time(str(values.pop("at", ""))), minutes(str(values.pop("length", "")))
    return _table(Incident, "incident", values, at=at, length=length)


def _answer(table: Mapping[str, Any]) -> Mapping[str, str]:
    _known(table, ("rule", "qmgr", "object", "job", "start", "end"), "answer")
    return {name: str(value) for name, value in table.items()}


def _check(estate: Estate) -> None:
    """Raise RequestError if a named object does not exist, or values contradict each other."""
    if not estate.queue_managers:
        raise RequestError(f"{estate.name}: no queue manager")
    for where, name, known in _names_used(estate):
        _one_of(where, name, known)
    managers = {each.name: each for each in estate.queue_managers}
    for manager in estate.queue_managers:
        _check_log(manager)
    for queue in estate.queues:
        _check_page_set(queue, managers[queue.queue_manager])
    for channel in estate.channels:
        if channel.lu62 and channel.cipher:
            raise RequestError(f"channel {channel.name}: cipher needs TCP/IP, not LU 6.2")
    for application in estate.applications:
        _check_application(application)


def _names_used(estate: Estate) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Yield each place that uses a name, the name, and the valid names."""
    managers, queues, channels = (
        dict.fromkeys(each.name for each in some)
        for some in (estate.queue_managers, estate.queues, estate.channels)
    )
    for manager in estate.queue_managers:
        where = f"queue manager {manager.name}, log, zhyperwrite"
        yield where, manager.log.zhyperwrite, ZHYPERWRITE
    for queue in estate.queues:
        yield f"queue {queue.name}", queue.queue_manager, managers
        yield f"queue {queue.name}, index", queue.index, INDEXES
        if queue.stream:
            yield f"queue {queue.name}, stream", queue.stream, queues
    for channel in estate.channels:
        yield f"channel {channel.name}", channel.queue_manager, managers
        yield f"channel {channel.name}, type", channel.type, CHANNEL_TYPES
    for application in estate.applications:
        where = f"application {application.name}"
        yield where, application.queue_manager, managers
        yield f"{where}, kind", application.kind, APPLICATION_KINDS
        yield f"{where}, curve", application.curve, estate.curves
        for name in (*application.get, *application.put, *application.opens):
            yield where, name, queues
        if application.kind == "channel":
            yield f"{where}, channel", application.channel, channels


def _check_log(manager: QueueManager) -> None:
    copies = manager.log.copies
    if copies not in (1, 2):
        raise RequestError(f"queue manager {manager.name}, log: copies = {copies} must be 1 or 2")


def _check_page_set(queue: Queue, manager: QueueManager) -> None:
    sets = [each.number for each in manager.page_sets]
    if not queue.structure and not queue.wire and queue.page_set not in sets:
        raise RequestError(f"queue {queue.name}: no page set {queue.page_set}; page sets: {sets}")


def _check_application(application: Application) -> None:
    where = f"application {application.name}"
    if not application.rate and not application.get:
        raise RequestError(f"{where}: give a rate, or queues to get from")
    if application.window:
        begin, _, end = application.window.partition("-")
        if not clock_time(begin) < clock_time(end):
            raise RequestError(f"{where}: window {application.window!r} must end after its start")


def _one_of(where: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise unknown(where, name, known)


def scenario_names() -> tuple[str, ...]:
    """Return the names of all scenarios."""
    return tuple(sorted(each.stem for each in _FOLDER.glob("*.toml")))


def load_estate(name: str, incidents: Sequence[str] = (), **changes: Any) -> Estate:
    """Return the estate of a scenario, or of a file that ends in .toml.

    incidents  additional incidents: log-slow@14:20/30m
    changes    new values for fields of the estate: start, days, interval, utc_offset, version,
               acctime

    Raises RequestError for a missing scenario, or impossible values.
    """
    estate = read_estate(Path(name).stem, _document(name))
    more = tuple(incident(each) for each in incidents)
    return replace(estate, incidents=estate.incidents + more, **changes)


def _document(name: str) -> dict[str, Any]:
    """Return the contents of a TOML file, merged with the scenario that it extends."""
    if name.endswith(".toml"):
        path = Path(name)
    elif name in scenario_names():
        path = _FOLDER / f"{name}.toml"
    else:
        raise unknown("scenario", name, scenario_names())
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: {error}") from error
    base = data.pop("extends", None)
    if base is None:
        return data
    if base not in scenario_names():
        raise unknown(f"{path}, extends", str(base), scenario_names())
    return _merged(_document(base), data)


def _merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with values of `more`, which replace values of `base`; tables are merged."""
    found = dict(base)
    for key, value in more.items():
        old = found.get(key)
        tables = isinstance(old, dict) and isinstance(value, dict)
        found[key] = _merged(found[key], value) if tables else value
    return found
