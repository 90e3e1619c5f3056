"""Commands of smfparse that are entered at the prompt of `smfparse sql`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource

from smfparse.cli.options import reading_options
from smfparse.cli.output import report_message
from smfparse.cli.words import corrected

_ALONE = frozenset({"explain", "listed"})
"""Options with which a command requires no input."""


def run_at_prompt(words: Sequence[str], prompt: click.Context, inputs: Sequence[str]) -> None:
    """Run a command of smfparse; without inputs, it reads the inputs of the prompt.

    A command without inputs also uses the selection of the prompt, and a message shows the whole
    command.
    """
    group = prompt.find_root().command
    given = [*words[words[0] == "smfparse" :]]
    whole = with_inputs(given, prompt, inputs)
    if whole != given:
        report_message(f"runs: {shlex.join(['smfparse', *whole])}")
    with suppress(SystemExit):
        group.main(whole, prog_name="smfparse")


def with_inputs(words: Sequence[str], prompt: click.Context, inputs: Sequence[str]) -> list[str]:
    """Return the words of a command; without inputs, with inputs and selection of the prompt.

    prompt  the context of `sql`
    inputs  the inputs of the prompt
    """
    found, root = corrected(words), prompt.find_root()
    named, command = _command(found, root.command)
    if command is None or "--help" in found:
        return found
    rest = found[named:]
    with command.make_context(command.name, rest, root, resilient_parsing=True) as context:
        lacking = [
            each
            for each in command.params
            if isinstance(each, click.Argument)
            and each.name in ("inputs", "source")
            and not context.params.get(each.name)
        ]
        if not lacking or any(context.params.get(each) for each in _ALONE):
            return found
    return [*found, *inputs, *_selection(prompt, command)]


def _command(words: Sequence[str], group: click.Command) -> tuple[int, click.Command | None]:
    """Return the number of words that name the command at the start, and the command."""
    named, command = 0, group
    while isinstance(command, click.Group):
        if named == len(words) or words[named] not in command.commands:
            return named, None
        command = command.commands[words[named]]
        named += 1
    return named, command


def _selection(prompt: click.Context, command: click.Command) -> Iterator[str]:
    """Yield the reading and selection options of the prompt that a command supports."""
    theirs = {each.name: each for each in command.params if isinstance(each, click.Option)}
    for name in _reading_names():
        value = prompt.params.get(name)
        is_given = prompt.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name in theirs:
            yield from _written(theirs[name].opts[0], value)


def _written(option: str, value: Any) -> Iterator[str]:
    """Yield the words of an option: a flag, or the option and its value for each value."""
    if value is True:
        yield option
        return
    for each in value if isinstance(value, tuple) else (value,):
        yield from (option, str(each))


def _reading_names() -> Iterator[str]:
    """Yield the names of the options that all commands with INPUT share."""
    with_options = reading_options("--until")(lambda **_: None)
    yield from (each.name for each in reversed(with_options.__click_params__) if each.name)  # type: ignore[attr-defined]
