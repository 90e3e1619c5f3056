"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

INPUT_HELP = """\
INPUT is an SMF file (binary, with record descriptor words), as it is or packed by gzip, zstd, xz,
bzip2 or zip; a folder of such files; a pattern ('dumps/*.gz'); a dataset that convert made; a pipe;
or - for standard input."""
"""What all commands that read SMF records say of INPUT at the end of their help."""
Command = TypeVar("Command", bound=Callable[..., Any])


def inputs_argument(command: Command) -> Command:
    """Add INPUT..., one or more inputs; INPUT_HELP is for the end of the help."""
    return click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=str)(command)


def jobs_option(command: Command) -> Command:
    """Add --jobs, by default one for each core that the process may use."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=_cores,
        show_default="all cores",
        help="Processes that decode large SMF files; the result is the same.",
    )(command)


<<<<<<< HEAD
def duplicates_option(command: Command) -> Command:
    """Add --keep-duplicates."""
    return click.option(
        "--keep-duplicates",
        is_flag=True,
        help="Count records of SMF files that are in several dumps as often as they are there.",
=======
def strict_option(command: Command) -> Command:
    """Add --strict."""
    return click.option(
        "--strict",
        is_flag=True,
        help="Let the first damage of an SMF file end the command, without a result.",
>>>>>>> damage
    )(command)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def selection_options(*until: str) -> Callable[[Command], Callable[..., Any]]:
    """Add the options that select records; the command takes what they say as `selection`.

    until  names of the option for the end of the time
    """

    def add(command: Command) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, **options: Any) -> Any:
            from smfparse.selection import Selection

            asked = {name: options.pop(name) for name in ("qmgr", "system", "since", "until")}
            selection = Selection.of(**asked, type=options.pop("types"))
            return command(*arguments, selection=selection, **options)

        for names, metavar, text in reversed(_selecting(until)):
            run = click.option(*names, multiple=True, metavar=metavar, help=text)(run)
        return run

    return add


def _selecting(until: tuple[str, ...]) -> list[tuple[tuple[str, ...], str, str]]:
    """Return names, metavar and help of the options that select."""
    return [
        (("--qmgr",), "NAME", "Only records of the queue manager NAME: QM01, 'QM*', 'QM0?'."),
        (("--system",), "NAME", "Only records of the z/OS system NAME (SMF id), patterns as well."),
        (
            ("--from", "since"),
            "TIME",
            "Only records that SMF took at TIME or later, local time of the system: 2026-03-04, "
            "2026-03-04T09:00, 2026063, 2026063:0900; or 0900, 09:00: that time of every day.",
        ),
        (
            (*until, "until"),
            "TIME",
            "Only records up to TIME; all of its day, minute or second is in. --from 2200 with "
            "0600 here is every night.",
        ),
        (
            ("--type", "types"),
            "TYPES",
            "Only records of these SMF types and subtypes: 115, '115,116(1:2)' (the shell wants "
            "the quotes).",
        ),
    ]


def lines_output_options(command: Command) -> Command:
    """Add --output and --force."""
    command = click.option("--force", is_flag=True, help="Replace FILE if it exists.")(command)
    return click.option(
        "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE."
    )(command)


def output_options(*formats: str) -> Callable[[Command], Command]:
    """Add --format (the first is the default), --output and --force."""

    def add(command: Command) -> Command:
        return click.option(
            "--format",
            "form",
            type=click.Choice(formats),
            default=formats[0],
            show_default=True,
            help="How the result is written.",
        )(lines_output_options(command))

    return add
