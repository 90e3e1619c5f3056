"""The options that only some reports have: their values, parsed for the SQL.

The declaration of a report lists its options with defaults. The SQL of the report reads the values
with `getvariable`:

    by            list of columns that rows are grouped by
    top           maximum number of rows in a section; NULL: all rows
    sort          one of the names in the report's `choices`; '': the order of the report
    acctime       seconds, entered as MMMM.SS like the parameter of MQ; AS_STATIME; NULL: not given
    statime       seconds, entered as MMMM.SS; NULL: not given
    smf_interval  seconds of the SMF interval, the meaning of 0 in `acctime` and `statime`; NULL:
                  not given
    every         whether rows of different intervals are not combined
    stream        list of {base, stream}: names of a queue and of its streaming queue
    maxinst       list of {channel, maxinst}: name of a channel and its MAXINST
    qsg           the queue-sharing group, for records without a group; '': not given
    job           regular expression for job names; '': not given
    channel       regular expression for channel names; '': not given
    transaction   regular expression for CICS transactions and IMS programs; '': not given
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from smfparse.decoding.criteria import like, parse_patterns, texts
from smfparse.errors import RequestError

Parser: TypeAlias = Callable[[str, Any, Sequence[str]], Any]
"""Function that converts the value of an option for the SQL: (option name, value, choices)."""
_MINUTES = re.compile(r"(\d{1,4})(?:\.(\d\d))?")
_DAY_SECONDS = 1440 * 60
_SMF_INTERVAL = 0
"""The value of ACCTIME and STATIME that means the SMF interval."""
AS_STATIME = -1
"""The value of ACCTIME that means STATIME."""
_CODES: Mapping[str, tuple[Mapping[str, int], str]] = {
    "acctime": (
        {"0": _SMF_INTERVAL, "-1": AS_STATIME},
        "; or 0 for the SMF interval, -1 for STATIME",
    ),
    "statime": ({"0": _SMF_INTERVAL}, "; or 0 for the SMF interval"),
    "smf_interval": ({}, ""),
}
"""By option: the results for values that are not MMMM.SS, and the text about these values."""
_MANY = 15
"""Maximum number of names that a message lists."""
_LONGEST_GROUP = 4
"""Maximum number of characters of the name of a queue-sharing group."""


def parsed(
    report: str,
    defaults: Mapping[str, Any],
    choices: Mapping[str, Sequence[str]],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values of all options of a report, for its SQL.

    defaults  options of the report, and their defaults
    choices   accepted names, by option
    given     values of options; None or empty: the option is not given

    Raises RequestError for an option that the report does not have, or an invalid value.
    """
    asked = {name: value for name, value in given.items() if value not in (None, "", (), [])}
    for name in asked:
        if name not in defaults:
            takes = ", ".join(f"{each}=" for each in defaults) or "only the options of all reports"
            raise RequestError(
                f"the report {report} does not take {name}=; it takes {takes}", name, *defaults
            )
    values = {
        name: OPTIONS[name](name, asked.get(name, default), choices.get(name, ()))
        for name, default in defaults.items()
    }
    return values | _of_smf(values)


def _of_smf(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the seconds of the SMF interval for each option in `values` that requests it (0).

    Raises RequestError if the option smf_interval is not given.
    """
    found = [each for each in ("acctime", "statime") if values.get(each) == _SMF_INTERVAL]
    length = values.get("smf_interval")
    if found and length is None:
        raise RequestError(
            f"{found[0]}={_SMF_INTERVAL}: this is the SMF interval, which is not in the records; "
            "give smf_interval=MMMM.SS as well (INTVAL of SMFPRMxx)",
            found[0],
            "smf_interval",
        )
    return dict.fromkeys(found, length)


def _texts(option: str, value: Any) -> list[str]:
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, Iterable) or not all(isinstance(each, str) for each in found):
        raise RequestError(f"{option}={value}: expected a string or a list of strings", option)
    return list(found)


def _names(option: str, value: Any, choices: Sequence[str]) -> list[str]:
    texts = value.split(",") if isinstance(value, str) else _texts(option, value)
    found = [text.strip().lower().replace("_", "-") for text in texts]
    for name in found:
        _choice(option, name, choices)
    return [name.replace("-", "_") for name in dict.fromkeys(found)]


def _number(option: str, value: Any, _choices: Sequence[str]) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise RequestError(
            f"{option}={value}: expected a number of rows; give 1 or more, 0 for all", option
        )
    return number or None


def _choice(option: str, value: Any, choices: Sequence[str]) -> str:
    for name in choices:
        if name == value:
            return name
    hint = f"it takes {', '.join(choices)}"
    if len(choices) > _MANY and (near := difflib.get_close_matches(str(value), choices)):
        hint = f"near: {', '.join(near)}; --explain names all {len(choices)}"
    raise RequestError(f"{option}={value}: unknown name; {hint}", option)


def _figure(option: str, value: Any, choices: Sequence[str]) -> str:
    return "" if value == "" else _choice(option, value, choices)


def seconds(text: Any, option: str = "interval", more: str = "") -> int:
    """Return the seconds of a text MMMM.SS, as in ACCTIME and STATIME: 0.15 is 15, 30 is 1800.

    more  text about other accepted values, for the error message

    Raises RequestError, which names `option`, unless the time is 1 second to 1440 minutes.
    """
    found = _MINUTES.fullmatch(str(text).strip())
    minutes, rest = (int(part or 0) for part in found.groups()) if found else (0, 0)
    length = 60 * minutes + rest
    if rest > 59 or not 1 <= length <= _DAY_SECONDS:
        raise RequestError(
            f"{option}={text}: expected MMMM.SS, minutes and seconds; "
            f"give 0.01 to 1440: 0.15, 30{more}",
            option,
        )
    return length


def _setting(option: str, value: Any, _choices: Sequence[str]) -> int | None:
    """Return the seconds of ACCTIME, STATIME or the SMF interval; a code: its value in _CODES."""
    if value == "":
        return None
    codes, more = _CODES[option]
    code = codes.get(str(value).strip())
    return seconds(value, option, more) if code is None else code


def _flag(_option: str, value: Any, _choices: Sequence[str]) -> bool:
    return bool(value)


def _pairs(option: str, value: Any, _choices: Sequence[str]) -> list[dict[str, str]]:
    found = []
    for text in _texts(option, value):
        base, equals, stream = (part.strip() for part in text.partition("="))
        if not (base and equals and stream):
            raise RequestError(
                f"{option}={text}: expected BASE=STREAM; give a queue and its STREAMQ", option
            )
        found.append({"base": base.upper(), "stream": stream.upper()})
    return found


def _limits(option: str, value: Any, _choices: Sequence[str]) -> list[dict[str, Any]]:
    found = {}
    for text in _texts(option, value):
        channel, _, number = (part.strip() for part in text.partition("="))
        if not (channel and number.isascii() and number.isdigit() and int(number)):
            raise RequestError(
                f"{option}={text}: expected CHANNEL=NUMBER; give a channel and its "
                f"{option.upper()}, as DISPLAY CHANNEL shows it",
                option,
            )
        found[channel.upper()] = int(number)
    return [{"channel": channel, option: number} for channel, number in found.items()]


def _patterns(option: str, value: Any, _choices: Sequence[str]) -> str:
    found = parse_patterns(option, texts(value)) if value else ()
    return like(sorted(found)).pattern


def _group(option: str, value: Any, _choices: Sequence[str]) -> str:
    found = str(value).strip().upper()
    if len(found) > _LONGEST_GROUP:
        raise RequestError(
            f"{option}={value}: expected the name of a queue-sharing group, of at most "
            f"{_LONGEST_GROUP} characters; DISPLAY GROUP shows it",
            option,
        )
    return found


OPTIONS: Mapping[str, Parser] = {
    "by": _names,
    "top": _number,
    "sort": _figure,
    "acctime": _setting,
    "statime": _setting,
    "smf_interval": _setting,
    "every": _flag,
    "stream": _pairs,
    "maxinst": _limits,
    "qsg": _group,
    "job": _patterns,
    "channel": _patterns,
    "transaction": _patterns,
}
"""The function that converts the value of each option."""
