"""The cases: what is planted in a day, and which finding must be first; read from *.toml.

`[diagnoses.NAME]` is one day. `[rules.ID]` are three: `above` the limit, `below` it, and above it
on a day with a bigger cause at another time (`BIGGER`). Planted things are separated by semicolons:
`log us=1400 @10:00-12:30` is a number of the model, `QPST.qpstsos=4 of 3` a field of a block.
Without a time it is one of the name's own.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.advice.independent.sites import ALL
from tests.support.days import Fault, Field, Site, day, hour_of

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
    since, until  hours of what is planted
    """

    name: str
    site: Site
    planted: tuple[Fault | Field, ...]
    first: tuple[str, ...] = ()
    object: str = ""
    who: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
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
    return {each.name: each for each in _cases()}


def _cases() -> Iterator[Case]:
    for file in sorted(Path(__file__).parent.glob("*.toml")):
        content = tomllib.loads(file.read_text("utf-8"))
        for name, spec in content.get("diagnoses", {}).items():
            yield _case(name, spec, spec["planted"])
        for rule, spec in content.get("rules", {}).items():
            yield from (replace(each, is_of_rule=True) for each in _of_rule(rule, spec))


def _of_rule(rule: str, spec: Mapping[str, Any]) -> Iterator[Case]:
    asked = {"first": rule} | spec
    yield _case(f"{rule}-above", asked, spec["above"])
    if "below" in spec:
        yield replace(_case(f"{rule}-below", asked, spec["below"]), first=(), who=())
    hidden = _case(f"{rule}-hidden", asked, spec["above"])
    bigger, cause = BIGGER
    planted = (*hidden.planted, *_planted(f"{rule}-hidden", bigger))
    both = (*hidden.first, cause)
    yield replace(hidden, planted=planted, first=both, object="", who=(), stands=hidden.first)


def _case(name: str, spec: Mapping[str, Any], text: str) -> Case:
    planted = tuple(_planted(name, text))
    main = planted[0] if planted else Fault("", 0)
    first = tuple(each for each in spec["first"].split("|") if each)
    return Case(
        name=name,
        site=replace(ALL[spec["site"]], **spec.get("change", {})),
        planted=planted,
        first=first,
        object=spec.get("object", ""),
        who=tuple(spec.get("who", "").split()),
        stands=tuple(spec.get("stands", "").split()),
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
            block, _, field = what.partition(".")
            known: Any = int(of) if of and of.isdigit() else of
            yield Field(block, field, float(value), *span, of=known)
        else:
            yield Fault(what, float(value), *span)


def _own_time(name: str) -> tuple[str, str]:
    """Return a time of the working day that belongs to a name."""
    number = zlib.crc32(name.rpartition("-")[0].encode())
    begin, half = 9 + number % 6, 30 * (number >> 8 & 1)
    return f"{begin}:{half:02}", f"{begin + 1 + (number >> 16) % 2}:{half:02}"
