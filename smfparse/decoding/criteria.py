"""From the text of selection options (names, times, types) to checked values, and back.

The parsing functions raise RequestError for an invalid text, with valid examples.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from smfparse.errors import RequestError

DAY = 24 * 3600
"""Number of seconds of a day."""
_MOST_TYPE = 2047
"""Maximum record type in an extended SMF header; in other headers, the maximum is 255."""
_MOST_SUBTYPE = 0xFFFF
_NAMES = {
    "qmgr": ("queue managers", 4),
    "system": ("systems", 4),
    "job": ("jobs", 8),
    "transaction": ("transactions", 8),
    "queue": ("queues", 48),
    "channel": ("channels", 20),
}
"""By option: the kind of names, and their maximum number of characters."""
_FIRST_YEAR, _LAST_YEAR = 1900, 2099

_DATE = r"(?P<year>\d{4})(?:(?P<mark>[-/])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)|(?P<yday>\d{3}))"
_CLOCK = r"(?P<hour>\d\d)(?P<colon>:?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d))?"
_MOMENT = re.compile(f"{_DATE}(?:[T :]{_CLOCK})?", re.ASCII)
_TIME_OF_DAY = re.compile(_CLOCK, re.ASCII)
_MOMENT_FORMS = "2026-03-04, 2026-03-04T09:00, 2026-03-04 09:00:30, 2026063, 2026063:0900"
_TIME_FORMS = f"{_MOMENT_FORMS}, or every day 0900, 09:00"
_RANGE = re.compile(r"(\d+)(?::(\d+))?", re.ASCII)
_TYPE = re.compile(r"(?P<types>[\d:]+)(?:\((?P<subtypes>[^()]*)\))?", re.ASCII)
_TYPE_FORMS = "115, 115,116, 116(1), '116(1:2)', '115(1,2),116'"

CodeRange: TypeAlias = tuple[int, int]
"""First and last type or subtype of a range, inclusive."""
Span: TypeAlias = tuple[dt.datetime | None, dt.datetime | None]
"""Local times of the start (inclusive) and the end (exclusive); None: no limit."""
Value: TypeAlias = str | int | dt.date | dt.time
"""A value of an option, as an object or as a text: the type 115, a datetime."""
Hours: TypeAlias = tuple[int, int]
"""Start and end in seconds since midnight. An end not after the start is on the next day."""


class Types(NamedTuple):
    """A range of SMF record types, and ranges of subtypes; None: any subtype, or no subtype."""

    types: CodeRange
    subtypes: tuple[CodeRange, ...] | None = None

    def has(self, smf_type: int, subtype: int) -> bool:
        """Whether a record of this type and subtype is in the ranges."""
        first, last = self.types
        subtypes = self.subtypes or ((subtype, subtype),)
        return first <= smf_type <= last and any(low <= subtype <= high for low, high in subtypes)

    def __str__(self) -> str:
        inner = "" if self.subtypes is None else f"({','.join(map(_shown, self.subtypes))})"
        return _shown(self.types) + inner


def texts(given: Value | Iterable[Value]) -> list[str]:
    """Return one or several values as a list of texts; a text is one value."""
    several = [given] if isinstance(given, Value) else list(given)
    for each in several:
        if not isinstance(each, Value):
            raise RequestError(f"{each!r}: expected a string or a list of strings")
    return [str(each) for each in several]


def parse_patterns(option: str, texts: Iterable[str]) -> frozenset[str]:
    """Return the name patterns in `texts`, in upper case; commas separate patterns in a text.

    option  the parameter: qmgr, system, job, transaction, queue or channel
    """
    found = [part.strip().upper() for text in texts for part in text.split(",")]
    what, width = _NAMES[option]
    for each in found:
        if not each:
            raise RequestError(
                f"{option}= has an empty name; leave it out to select all {what}", option
            )
        if len(each.replace("*", "")) > width:
            raise RequestError(
                f"{option}={each}: names of {what} have up to {width} characters; "
                "* stands for any characters, ? for one character",
                option,
            )
    return frozenset(found)


def regex(pattern: str) -> str:
    """Return a name pattern as a regular expression with the same meaning in Python and RE2.

    Only ASCII letters match in either case, because engines differ in other letters.
    """
    return "".join(_regex_of(character) for character in pattern)


def like(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a regular expression for all names that match one of the patterns."""
    return re.compile("|".join(map(regex, patterns)))


def _regex_of(character: str) -> str:
    if character in "*?":
        return "(?s:.)*" if character == "*" else "(?s:.)"
    if character.isascii() and character.isalpha():
        return f"[{character.upper()}{character.lower()}]"
    return re.escape(character)


def parse_types(texts: Iterable[str]) -> tuple[Types, ...]:
    """Return the record types of `texts`, in the syntax of IFASMFDP's TYPE."""
    return tuple(each for text in texts for each in _types(text))


def _types(text: str) -> list[Types]:
    found = re.sub(r"\s", "", text).upper()
    if found.startswith("TYPE(") and found.endswith(")"):
        found = found[len("TYPE(") : -1]
    parts = re.split(r",(?![^()]*\))", found)
    return [_one_type(part, text) for part in parts]


def _one_type(part: str, text: str) -> Types:
    found = _TYPE.fullmatch(part)
    if found is None:
        raise RequestError(
            f"type={text!r} is not a list of types; write it like {_TYPE_FORMS}", "type"
        )
    chosen = _range(found["types"], _MOST_TYPE, text)
    if found["subtypes"] is None:
        return Types(chosen)
    if chosen[0] != chosen[1]:
        raise RequestError(
            f"type={text!r}: subtypes belong to one type, not to several; separate types by commas",
            "type",
        )
    parts = found["subtypes"].split(",")
    return Types(chosen, tuple(_range(each, _MOST_SUBTYPE, text) for each in parts))


def _range(part: str, most: int, text: str) -> CodeRange:
    found = _RANGE.fullmatch(part)
    if found is None:
        raise RequestError(
            f"type={text!r} is not a list of types; write it like {_TYPE_FORMS}", "type"
        )
    first, last = int(found[1]), int(found[2] or found[1])
    if not first <= last <= most:
        raise RequestError(
            f"type={text!r}: {part} is not a number or an ascending range from 0 to {most}", "type"
        )
    return first, last


def _shown(found: CodeRange) -> str:
    first, last = found
    return str(first) if first == last else f"{first}:{last}"


def is_time(text: str) -> bool:
    """Whether `text` has the form of a time."""
    return bool(_MOMENT.fullmatch(text) or _TIME_OF_DAY.fullmatch(text))


def parse_span(since: Iterable[str], until: Iterable[str]) -> tuple[Span, Hours | None]:
    """Return the time from `since` to `until`, and the hours of each day; None: all hours.

    `since` and `until` each contain a moment, a time of day, both, or nothing. The result includes
    the last unit that `until` names: a day, a minute, a second.
    """
    start, opening = _times("since", since)
    end, closing = _times("until", until)
    first = _moment(start)[0] if start else None
    last = _moment(end)[1] if end else None
    if first and last and first >= last:
        raise RequestError("since= is later than until=; exchange them", "since", "until")
    if not opening and not closing:
        return (first, last), None
    opens = _clock(opening)[0] % DAY if opening else 0
    return (first, last), (opens, _clock(closing)[1] if closing else DAY)


def parse_moment(option: str, text: str) -> dt.datetime:
    """Return the local time in a text: the start of the named day, minute or second.

    option  the parameter that contains the text
    """
    found, daily = _times(option, [text])
    if found is None or daily is not None:
        raise RequestError(f"{option}={text!r} has no day; write it like {_MOMENT_FORMS}", option)
    return _moment(found)[0]


def _times(option: str, texts: Iterable[str]) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return the matches of the moment and of the time of day in `texts`; None: no such text."""
    found: list[re.Match[str] | None] = [None, None]
    for text in texts:
        matches = [form.fullmatch(text.strip().upper()) for form in (_MOMENT, _TIME_OF_DAY)]
        given = f"{option}={text!r}"
        if not any(matches):
            raise RequestError(f"{given} is not a time; write it like {_TIME_FORMS}", option)
        if any(earlier and new for earlier, new in zip(found, matches, strict=True)):
            raise RequestError(f"{given}: give at most one date and one time of day", option)
        try:
            _ = [
                units(each) for units, each in zip((_moment, _clock), matches, strict=True) if each
            ]
        except ValueError as error:
            raise RequestError(f"{given}: {error}", option) from error
        found = [earlier or new for earlier, new in zip(found, matches, strict=True)]
    return found[0], found[1]


def _moment(found: re.Match[str]) -> tuple[dt.datetime, dt.datetime]:
    day = dt.datetime.combine(_day(found), dt.time())
    first, last = (0, DAY) if found["hour"] is None else _clock(found)
    return day + dt.timedelta(seconds=first), day + dt.timedelta(seconds=last)


def _day(found: re.Match[str]) -> dt.date:
    year = int(found["year"])
    try:
        if found["yday"] is None:
            day = dt.date(year, int(found["month"]), int(found["day"]))
        else:
            day = dt.date(year, 1, 1) + dt.timedelta(days=int(found["yday"]) - 1)
    except ValueError as error:
        raise ValueError("no such day") from error
    if day.year != year:
        raise ValueError("no such day")
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise ValueError(f"SMF dates go from {_FIRST_YEAR} to {_LAST_YEAR}")
    return day


def _clock(found: re.Match[str]) -> tuple[int, int]:
    """Return the seconds of the day at which the named unit starts and ends.

    24:00 is the end of the day. Raises ValueError for an impossible time.
    """
    hour, minute, second = (int(found[each] or 0) for each in ("hour", "minute", "second"))
    seconds = (hour * 60 + minute) * 60 + second
    if minute > 59 or second > 59 or seconds > DAY:
        raise ValueError("no such time of day; it goes from 00:00 to 24:00")
    return seconds, min(seconds + (60 if found["second"] is None else 1), DAY)
