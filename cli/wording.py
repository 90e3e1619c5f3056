"""Messages of the library in the words of the command line: `since=` is --from here."""

from __future__ import annotations

import re

import click

from smfparse.errors import SmfError

_VALUE = r"""(?:True\b|(?P<value>'[^']*'|"[^"]*"|-?\w+))"""
"""What may stand behind a name."""


def in_options(error: SmfError, command: click.Command) -> str:
    """Return the message of an error with the options of `command` for its parameters.

    `since=` becomes --from, `append=True` --append, `jobs=1` --jobs 1. Only the parameters that
    the error names are meant: a file may be called jobs=1.
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
    """Return the options of a command, or of those of a group, by own names and parameters.

    Where one has the name of another's parameter, its own name counts: --types and --type.
    """
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = [each for part in parts for each in part.params if isinstance(each, click.Option)]
    own = {each.opts[0].lstrip("-").replace("-", "_"): each.opts[0] for each in options}
    return {each.name: each.opts[0] for each in options if each.name} | own
