"""Words of the command line: corrected variants, options in errors, paths of output files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from smfparse.errors import SmfError
from smfparse.reading.places import is_url

_TIMES = ("--from", "--until", "--to", "--start")
_DAY = re.compile(r"(?:(?:--from|--until|--to|--start)=)?(?:\d{4}-\d{2}-\d{2}|\d{7})")
_CLOCK = re.compile(r"\d{2}:\d{2}(?::\d{2})?|\d{4}")


def is_input(name: str) -> bool:
    """Whether a name is an input: a file, standard input, a URL, or a pattern of existing files."""
    from glob import glob

    from smfparse.reading.places import is_url

    with suppress(OSError, ValueError):
        return (
            name == "-" or is_url(name) or Path(name).exists() or bool(glob(name, recursive=True))
        )
    return False


def is_path(name: str) -> bool:
    """Whether a name looks like a file name: it contains a folder or an extension."""
    return bool(Path(name).suffix) or Path(name).name != name


def corrected(arguments: Sequence[str]) -> list[str]:
    """Return arguments with two variants corrected.

    `help NAME` becomes `NAME --help`; day and time in `--from 2026-03-04 09:00` become one value.
    """
    if arguments[:1] == ["help"]:
        return [*arguments[1:2], "--help"]
    found: list[str] = []
    for each in arguments:
        if _CLOCK.fullmatch(each) and _ends_in_day(found):
            found[-1] = f"{found[-1]} {each}"
        else:
            found.append(each)
    return found


def _ends_in_day(arguments: Sequence[str]) -> bool:
    """Whether the last argument is a day, as the value of an option for a time."""
    if not arguments or not _DAY.fullmatch(arguments[-1]):
        return False
    return "=" in arguments[-1] or arguments[-2:-1] in [[each] for each in _TIMES]


_VALUE = r"""(?:True\b|(?P<value>'[^']*'|"[^"]*"|-?\w+))"""
"""Regular expression for the value of a parameter in a message."""


def in_options(error: SmfError, command: click.Command) -> str:
    """Return the message of an error with parameters replaced by the options of `command`.

    `since=` becomes --from, `append=True` --append, `jobs=1` --jobs 1. Only parameters listed in
    the error are replaced, because the name of a file may be jobs=1.
    """
    message = str(error)
    options = _options(command)
    names = "|".join(re.escape(each) for each in error.parameters if each in options)
    if not names:
        return message

    def option(found: re.Match[str]) -> str:
        value = found["value"]
        return f"{options[found['name']]}{f' {value}' if value else ''}"

    return re.sub(rf"(?<![^\s(])(?P<name>{names})=(?:{_VALUE}|(?![^\s,;:.)]))", option, message)


def _options(command: click.Command) -> dict[str, str]:
    """Return the options of a command, or of all commands of a group, by name and by parameter.

    Names have priority over parameters: `types` returns --types, not --type, whose parameter is
    `types`.
    """
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = [each for part in parts for each in part.params if isinstance(each, click.Option)]
    own = {each.opts[0].lstrip("-").replace("-", "_"): each.opts[0] for each in options}
    return {each.name: each.opts[0] for each in options if each.name} | own


class LocalPath(click.Path):
    """The path of an output file on this machine."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if is_url(value):
            self.fail(
                f"{value}: only a dataset is written to a URL (convert --to); write to a file on "
                "this machine, and copy it there",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)
