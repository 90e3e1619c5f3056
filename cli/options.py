"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def inputs_argument(command: Command) -> Command:
    """Add INPUT..., one or more SMF files or datasets."""
    return click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=str)(command)


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
