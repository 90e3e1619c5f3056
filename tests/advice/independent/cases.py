"""The cases: what is planted in a day, and which finding must be first; read from *.toml.

`[healthy.NAME]` and `[diagnoses.NAME]` are one day. `[rules.ID]`, of a rule or a diagnosis, are
three: `above` the limit, `below` it, and above it on a day with a bigger cause at another time
(`BIGGER`). Planted things are separated by semicolons: `log us=1400 @10:00-12:30` is a number of
the model, `QPST.qpstsos=4 of 3` a field of a block. Without a time it is one of the name's own.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.advice.independent.sites import ALL, changed
from tests.support.days.blocks import Field
from tests.support.days.model import Fault
from tests.support.days.records import day
from tests.support.days.sites import Site
from tests.support.days.times import hour_of

_PLANTED = re.compile(r"(.+?)=(\S+)(?: of (\S+))?(?: @(\S+)-(\S+))?")
BIGGER = "QSST.qsstcrit=3 @3:00-4:00", "STG-SOS"
"""A bigger cause at another time: storage is short for an hour of the night."""


@dataclass(frozen=True)
class Case:
    """A day of a site.

    planted  what is wrong in it
    first    rules and diagnoses of which the first finding has to be one; (): there is no finding
             of severity 1 or 2
    object, who  of that finding; '': any
    stands   the rule or diagnosis that has to be a finding by itself: `BUFF-FREE:5` of object 5
    absent   rules and diagnoses that are found nowhere, also not below another
    beside   those of severity 1 or 2 that a day without `first` may have
    limits   those that the site gives
    since, until  hours of what is planted
    """

    name: str
    site: Site
    planted: tuple[Fault | Field, ...]
    first: tuple[str, ...] = ()
    object: str = ""
    who: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    since: float = 0.0
    until: float = 24.0
    is_timed: bool = True
    is_of_rule: bool = False

    def data(self, number: int) -> bytes:
        """Return the SMF data of the day, on a system of its own: `system_of(number)`."""
        site = replace(self.site, system=system_of(number), qsg=self.site.qsg and f"Q{number:03}")
        faults = [each for each in self.planted if isinstance(each, Fault)]
        fields = [each for each in self.planted if isinstance(each, Field)]
        return day(site, faults, fields, zlib.crc32(self.name.encode()))


def system_of(number: int) -> str:
    return f"T{number:03}"


@cache
def cases() -> Mapping[str, Case]:
    """Return the days with something planted, by name."""
    found = [_case(name, spec, spec["planted"]) for name, spec in _declared("diagnoses")]
    for rule, spec in _declared("rules"):
        found += (replace(each, is_of_rule=True) for each in _of_rule(rule, spec))
    return {each.name: each for each in found}


@cache
def healthy() -> Mapping[str, Case]:
    """Return the days without a cause of severity 1 or 2, by name."""
    names = ((f"healthy-{name}", {"first": ""} | spec) for name, spec in _declared("healthy"))
    return {name: _case(name, spec, "") for name, spec in names}


def _declared(kind: str) -> Iterable[tuple[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(f"{kind}.toml").read_text("utf-8"))[kind].items()


def _of_rule(rule: str, spec: Mapping[str, Any]) -> Iterator[Case]:
    asked = {"first": rule} | spec
    yield _case(f"{rule}-above", asked, spec["above"])
    if "below" in spec:
        below = _case(f"{rule}-below", asked, spec["below"])
        yield replace(below, first=(), who=(), stands=(), absent=(rule,))
    hidden = _case(f"{rule}-hidden", asked, spec["above"])
    bigger, cause = BIGGER
    planted = (*hidden.planted, *_planted(f"{rule}-hidden", bigger))
    both = (*hidden.first, cause)
    yield replace(
        hidden, planted=planted, first=both, object="", who=(), stands=hidden.stands or hidden.first
    )


def _case(name: str, spec: Mapping[str, Any], text: str) -> Case:
    planted = tuple(_planted(name, text))
    main = planted[0] if planted else Fault("", 0)
    first = tuple(each for each in spec["first"].split("|") if each)
    return Case(
        name=name,
        site=changed(ALL[spec["site"]], spec.get("change", {})),
        planted=planted,
        first=first,
        object=spec.get("object", ""),
        who=tuple(spec.get("who", "").split()),
        stands=tuple(spec.get("stands", "").split()),
        absent=tuple(spec.get("absent", "").split()),
        beside=tuple(spec.get("beside", "").split("|")),
        limits=spec.get("limits", {}),
        since=hour_of(main.since),
        until=hour_of(spec.get("until", main.until)),
        is_timed=spec.get("is_timed", True),
    )


def _planted(name: str, text: str) -> Iterator[Fault | Field]:
    for each in filter(None, (part.strip() for part in text.split(";"))):
        match = _PLANTED.fullmatch(each)
        assert match, f"{name}: {each}"
        what, value, of, since, until = match.groups()
        span = (since, until) if since else _own_time(name)
        if re.match(r"[A-Z0-9_]+\.[a-z]", what):
            block, _, named = what.partition(".")
            known: Any = int(of) if of and of.isdigit() else of
            yield Field(block, named, int(value, 0), *span, of=known)
        else:
            yield Fault(what, float(value), *span)


def _own_time(name: str) -> tuple[str, str]:
    """Return a time of the working day that belongs to a name."""
    number = zlib.crc32(name.rpartition("-")[0].encode())
    begin, half = 9 + number % 6, 30 * (number >> 8 & 1)
    return f"{begin}:{half:02}", f"{begin + 1 + (number >> 16) % 2}:{half:02}"
