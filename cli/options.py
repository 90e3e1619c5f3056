"""Options and arguments that several commands share."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from smfparse.cli.output import (
    COLOURS,
    UNPAGED,
    Output,
    check_name,
    format_of_name,
    has_unknown_ending,
    on_terminal,
    report_message,
)
from smfparse.cli.progress import BAR
from smfparse.cli.words import LocalPath
from smfparse.interrupts import timed
from smfparse.reading.framings import FRAMINGS
from smfparse.reading.packing import PACKINGS
from smfparse.reading.places import SCHEMES, Place
from smfparse.rendering.formats import FORMATS, HTML, PARQUET, PNG, SVG, TEXT, XLSX

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from smfparse.decoding.selection import Selection
    from smfparse.inputs.opening import Inputs
    from smfparse.inputs.options import ReadOptions

*_OTHERS, _LAST = (each.name for each in PACKINGS)
INPUT_HELP = f"""\
INPUT is an SMF file in binary, with or without record descriptor words, optionally compressed with
{", ".join(_OTHERS)} or {_LAST}; a folder of such files; a pattern ('dumps/*.gz'); a Parquet
archive of convert; a URL of any of these ({", ".join(f"{each}://" for each in SCHEMES)}); a pipe;
or - for standard input."""
"""Description of INPUT: the end of the help of all commands that read SMF records."""

_BYTES = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_LONGEST = 31_536_000
"""Maximum of --timeout: a year, in seconds."""

Command = TypeVar("Command", bound=Callable[..., Any])


def inputs_argument(command: Command) -> Command:
    """Add the argument INPUT..., one or more inputs."""
    return click.argument(
        "inputs",
        metavar="INPUT...",
        nargs=-1,
        required=True,
        type=str,
        shell_complete=completed_files,
    )(command)


def completed_files(
    _context: click.Context, _argument: click.Parameter, text: str
) -> list[CompletionItem]:
    """Return a completion item that makes the shell complete file names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(text, type="file")]


class Reading(NamedTuple):
    """The options with which a command reads inputs."""

    options: ReadOptions

    @property
    def selection(self) -> Selection:
        """The selected records."""
        return self.options.selection

    def without(self, options: Sequence[str]) -> Reading:
        """Return a copy that does not select by the kinds of name in `options`: job, queue, ..."""
        from smfparse.decoding.selection import without_names

        return Reading(replace(self.options, selection=without_names(self.selection, options)))

    def open(self, inputs: Sequence[str], output: Place | None) -> Inputs:
        """Open inputs; `output` must not be one of them.

        Raises the errors of `open_inputs` and, for `output`, of `check_apart`.
        """
        from smfparse.inputs.named import check_apart
        from smfparse.inputs.opening import open_inputs

        opened = open_inputs(inputs, self.options, target=output)
        if output is not None:
            check_apart((each.path for each in opened.sources), output)
        return opened


def reading_options(*until: str) -> Callable[[Command], Callable[..., Any]]:
    """Add the options for reading inputs; the command gets them as one parameter, `reading`.

    Options have the names of the parameters of `ReadOptions` and `Selection.of`, but --type is
    `types` there.

    until  names of the option for the end of the selected time
    """

    def add(command: Command) -> Callable[..., Any]:
        @wraps(command)
        def run(*arguments: Any, **options: Any) -> Any:
            from smfparse.inputs.options import read_options

            reading = Reading(read_options(options))
            return command(*arguments, reading=reading, **options)

        shared = (
            quiet_option,
            limit_options,
            _jobs_option,
            strict_option,
            framing_option,
            _duplicates_option,
        )
        found: Callable[..., Any] = run
        for option in (*shared, *reversed(_selecting(until))):
            found = option(found)
        return found

    return add


def tz_option(command: Command) -> Command:
    """Add --tz."""
    return click.option(
        "--tz",
        metavar="ZONE",
        help="Show times, and read the times in options, in ZONE: utc, Europe/Berlin, "
        "America/New_York; default: local time of each z/OS system.",
    )(command)


def framing_option(command: Command) -> Command:
    """Add --framing."""
    return click.option(
        "--framing",
        type=click.Choice(tuple(FRAMINGS)),
        help="Read SMF files in this record format; detected by default.",
    )(command)


def quiet_option(command: Command) -> Command:
    """Add --quiet."""

    def silence(_context: click.Context, _option: click.Parameter, is_quiet: bool) -> None:
        if is_quiet:
            BAR.silence()

    return click.option(
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=silence,
        help="Do not show progress.",
    )(command)


def _terminal_options(command: Command) -> Command:
    """Add --no-pager and --color, for text on a terminal."""

    def keep(name: str) -> Callable[[click.Context, click.Parameter, bool | None], None]:
        def kept(context: click.Context, _option: click.Parameter, value: bool | None) -> None:
            context.meta[name] = value

        return kept

    coloured = click.option(
        "--color/--no-color",
        default=None,
        expose_value=False,
        callback=keep(COLOURS),
        help="Print text with or without colour; default: with colour on a terminal, unless "
        "NO_COLOR is set.",
    )(command)
    return click.option(
        "--no-pager",
        is_flag=True,
        expose_value=False,
        callback=keep(UNPAGED),
        help="Print long text without a pager; default: pager from PAGER, or less.",
    )(coloured)


def limit_options(command: Command) -> Callable[..., Any]:
    """Add --max-copy and --timeout; at the timeout, the command ends as after Ctrl-C."""

    @wraps(command)
    def run(*arguments: Any, timeout: int | None, **options: Any) -> Any:
        with timed(timeout):
            return command(*arguments, **options)

    run = click.option(
        "--timeout",
        type=click.IntRange(1, _LONGEST),
        metavar="SECONDS",
        help="Stop after this time with exit code 8; the output is then incomplete.",
    )(run)
    return click.option(
        "--max-copy",
        callback=size_in_bytes,
        metavar="SIZE",
        help="Limit the temporary copy of standard input or a pipe (100MB, 1GB); a larger input "
        "ends with exit code 8; default: free temporary space minus 1 GB.",
    )(run)


def size_in_bytes(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> int | None:
    """Return the bytes of a size such as 5000000 or 100MB."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)(KB|MB|GB|)", text.upper())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a size; write 100MB, 1GB or 5000000")
    return int(found[1]) * _BYTES[found[2]]


def strict_option(command: Command) -> Command:
    """Add --strict."""
    return click.option(
        "--strict",
        is_flag=True,
        help="Stop at the first damage and write no result.",
    )(command)


def _duplicates_option(command: Command) -> Command:
    return click.option(
        "--keep-duplicates",
        is_flag=True,
        help="Keep records that occur in more than one SMF dump; default: count each once.",
    )(command)


def _jobs_option(command: Command) -> Command:
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=_cores,
        show_default="all cores",
        help="Use this many processors to convert or decompress large SMF files; the result is the "
        "same.",
    )(command)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _selecting(until: tuple[str, ...]) -> list[Callable[[Command], Command]]:
    return [
        _several("--qmgr", help="Select records of the queue manager NAME: QM01, 'QM*', 'QM0?'."),
        _several(
            "--system",
            help="Select records of the z/OS system NAME (SMF id); patterns are allowed.",
        ),
        *_times(until),
        _several(
            "--type",
            "types",
            metavar="TYPES",
            help="Select records of these SMF types and subtypes: 115, '115,116(1:2)' (the shell "
            "needs the quotes).",
        ),
        _several(
            "--job",
            help="Select rows of the job, CICS or IMS region, or started task NAME: PAY01, 'PAY*'.",
        ),
        _several(
            "--transaction",
            help="Select rows about the CICS transaction or IMS program (PSB) NAME: PAY1, 'RPT*'.",
        ),
        _several(
            "--queue",
            help="Select rows of the queue NAME, as opened or resolved, and of its tasks.",
        ),
        _several("--channel", help="Select rows of the channel NAME, and of its tasks."),
    ]


def _times(until: tuple[str, ...]) -> Iterator[Callable[[Command], Command]]:
    yield _several(
        "--from",
        "since",
        metavar="TIME",
        help="Select records of TIME or later, local time of the system: 2026-03-04, "
        "2026-03-04T09:00, 2026063, 2026063:0900; or a time of every day: 0900, 09:00. A record "
        "usually counts at the middle of its interval (docs/selecting.md).",
    )
    yield _several(
        *until,
        "until",
        metavar="TIME",
        help="Select records up to and including TIME. --from 2200 "
        f"{until[0]} 0600 selects every night.",
    )
    yield tz_option
    yield click.option(
        "--smf-time",
        is_flag=True,
        help=f"Select by SMF time with --from and {until[0]}, as IFASMFDP does.",
    )


def _several(
    *names: str,
    help: str,  # noqa: A002 - the name in click
    metavar: str = "NAME",
) -> Callable[[Command], Command]:
    return click.option(*names, multiple=True, metavar=metavar, help=help)


def lines_output_options(command: Command) -> Callable[..., Any]:
    """Add --output and --force; the command gets them as `output`, with the format text."""
    return _writing(_terminal_options(command), lambda _: TEXT, ())


def page_output_options(command: Command) -> Callable[..., Any]:
    """Add --output and --force; the command gets them as `output`, with the format html.

    On a terminal the page is written to a file; without --output, its name contains the date.
    """

    @wraps(command)
    def run(*arguments: Any, output: Output, **options: Any) -> Any:
        if output.path is None and on_terminal():
            path = Path(f"mq-{dt.date.today():%Y-%m-%d}.html")
            output = output._replace(path=path)
            report_message(f"the page is written to {path}; --output names another file")
        return command(*arguments, output=output, **options)

    return _writing(run, lambda _: HTML, ())


def drawing_output_options(command: Command) -> Callable[..., Any]:
    """Add --output and --force; the command gets them as `output`, with the format PNG or SVG."""

    def format_of(options: Mapping[str, Any]) -> str:
        path = options["output"]
        return PNG if path is not None and path.suffix.lower() == f".{PNG}" else SVG

    return _writing(command, format_of, ())


def output_options(
    *more: str, otherwise: Callable[[Mapping[str, Any]], str] = lambda _: TEXT, words: str = TEXT
) -> Callable[[Command], Callable[..., Any]]:
    """Add --format, --output and --force; the command gets them as `output`.

    more       formats besides the formats of every command
    otherwise  returns the default format, from the other options
    words      description of the default format in the help
    """
    formats = (*FORMATS, XLSX, *more)

    def add(command: Command) -> Callable[..., Any]:
        def format_of(options: dict[str, Any]) -> str:
            chosen: str | None = options.pop("format")
            path = options["output"]
            implied = format_of_name(path) if path is not None else None
            if asked := chosen or (implied if implied in formats else None):
                return asked
            found = otherwise(options)
            if path is not None and has_unknown_ending(path):
                report_message(f"{path}: the format is {found}; --format selects another")
            return found

        return click.option(
            "--format",
            type=click.Choice(formats),
            show_default=words,
            help="Write the result in this format; default: by the ending of --output.",
        )(_writing(_terminal_options(command), format_of, formats))

    return add


def _writing(
    command: Command, format_of: Callable[[dict[str, Any]], str], formats: Collection[str]
) -> Callable[..., Any]:
    """Add --output and --force; the command gets them as `output`.

    format_of  function that returns the format, and removes --format from the options
    formats    formats that --format accepts; (): the command has no --format
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        output = Output(format_of(options), options.pop("output"), options.pop("force"))
        if output.path is not None:
            check_name(output.path, output.format, formats)
        elif output.format in (XLSX, PARQUET) and on_terminal():
            raise click.UsageError(
                f"{output.format} is a binary format; give a file: --output result.{output.format}."
            )
        return command(*arguments, output=output, **options)

    run = click.option("--force", is_flag=True, help="Replace FILE if it exists.")(run)
    return click.option(
        "--output",
        type=LocalPath(),
        metavar="FILE",
        help="Write to FILE. Without --format, its extension selects the format: log.xlsx.",
    )(run)
