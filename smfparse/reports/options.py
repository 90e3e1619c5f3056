"""Options of reports: what else a report is asked for, as text or plain values.

A report's declaration names those that it takes, each with the value that it has unless told
otherwise. Its SQL gets them by `getvariable`:

    by       list of dimensions that rows are told apart by
    top      how many rows a section has at most; NULL: all
    sort     one of the report's `sorts`
    acctime  seconds, of MMMM.SS as the queue manager takes it; NULL where not told
    statime  likewise
    stream   list of {base, stream}: names of a queue and of its stream queue
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from smfparse.errors import RequestError

Parser: TypeAlias = Callable[[Any, Sequence[str]], Any]
_MINUTES = re.compile(r"(\d{1,4})(?:\.(\d\d))?")
_DAY_SECONDS = 1440 * 60


def parsed(
    report: str,
    defaults: Mapping[str, Any],
    choices: Mapping[str, Sequence[str]],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of all options of a report, for its SQL.

    defaults  options that it takes, and their values unless told otherwise
    choices   of those that take names: which
    given     what is asked for; None or empty: nothing

    Raises RequestError for an option that it does not take, or a value that makes no sense.
    """
    asked = {name: value for name, value in given.items() if value not in (None, "", (), [])}
    for name in asked:
        if name not in defaults:
            takes = ", ".join(f"--{each}" for each in defaults) or "none but those of all reports"
            raise RequestError(f"the report {report} has no --{name}; it takes {takes}")
    return {
        name: _PARSERS[name](asked.get(name, default), choices.get(name, ()))
        for name, default in defaults.items()
    }


def _names(value: str | Iterable[str], choices: Sequence[str]) -> list[str]:
    texts = value.split(",") if isinstance(value, str) else value
    found = [text.strip().lower().replace("_", "-") for text in texts]
    for name in found:
        if name not in choices:
            raise RequestError(f"--by {name}: it takes {', '.join(choices)}")
    return [name.replace("-", "_") for name in dict.fromkeys(found)]


def _number(value: Any, _choices: Sequence[str]) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise RequestError(f"--top {value}: it takes a number of rows, from 1 on; 0 is all")
    return number or None


def _choice(value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise RequestError(f"--sort {value}: it takes {', '.join(choices)}")
    return value


def seconds(text: str) -> int:
    """Return the seconds of MMMM.SS, as ACCTIME and STATIME are set: 0.15 is 15, 30 is 1800.

    Raises RequestError where it is not between 1 second and 1440 minutes.
    """
    found = _MINUTES.fullmatch(str(text).strip())
    minutes, rest = (int(part or 0) for part in found.groups()) if found else (0, 0)
    length = 60 * minutes + rest
    if rest > 59 or not 1 <= length <= _DAY_SECONDS:
        raise RequestError(
            f"no interval: {text}; it is MMMM.SS, minutes and seconds, from 0.01 to 1440: 0.15, 30"
        )
    return length


def _seconds(value: Any, _choices: Sequence[str]) -> int | None:
    return seconds(value) if value else None


def _pairs(value: str | Iterable[str], _choices: Sequence[str]) -> list[dict[str, str]]:
    texts = [value] if isinstance(value, str) else value
    found = []
    for text in texts:
        base, equals, stream = (part.strip() for part in text.partition("="))
        if not (base and equals and stream):
            raise RequestError(f"--stream {text}: it is the name of a queue, =, and its STREAMQ")
        found.append({"base": base.upper(), "stream": stream.upper()})
    return found


_PARSERS: Mapping[str, Parser] = {
    "by": _names,
    "top": _number,
    "sort": _choice,
    "acctime": _seconds,
    "statime": _seconds,
    "stream": _pairs,
}
