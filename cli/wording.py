"""Messages of the library in the words of the command line: `since=` is --from here."""

from __future__ import annotations

import re

import click

_VALUE = r"""(?:True\b|(?P<value>'[^']*'|"[^"]*"|\w+(?![\w/\\]|[.:][\w/\\])))"""
"""What may stand behind a name; the beginning of a path is no value."""


def in_options(message: str, command: click.Command) -> str:
    """Return a message with the options of `command` for the parameters that it names.

    `since=` becomes --from, `append=True` --append, `jobs=1` --jobs 1. Only names that stand alone
    are meant, and only those in the first line: others are of SQL that the message shows.
    """
    options = {
        each.name: each.opts[0]
        for each in command.params
        if isinstance(each, click.Option) and each.name
    }
    if not options:
        return message
    names = "|".join(map(re.escape, options))
    pattern = rf"(?<![^\s(])(?P<name>{names})=(?:{_VALUE}|(?![^\s,;:.)]))"

    def option(found: re.Match[str]) -> str:
        value = found["value"]
        return f"{options[found['name']]}{f' {value}' if value else ''}"

    first, *others = message.split("\n")
    return "\n".join([re.sub(pattern, option, first), *others])
