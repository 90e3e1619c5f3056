"""The command line: each module has one click command, without other logic."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from smfparse import __version__
from smfparse.cli.output import report_error, report_message
from smfparse.cli.progress import BAR
from smfparse.cli.words import corrected, in_options, is_input, is_path
from smfparse.errors import RequestError, SmfError, did_you_mean
from smfparse.interrupts import ASKED, ended_by_signals
from smfparse.progress import PROGRESS
from smfparse.rendering.figures import visible

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""numpy starts threads for linear algebra when it is loaded; smfparse does not use them."""
EXIT_USAGE = 2
EXIT_FAILED = 8
EXIT_SIGNAL = 128
EXIT_INTERRUPTED = EXIT_SIGNAL + 2
EXIT_CLOSED_PIPE = EXIT_SIGNAL + 13
"""Exit codes as in a shell for a program that SIGINT or SIGPIPE ended."""
_HELP: tuple[type[click.UsageError], ...] = tuple(
    filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)])
)
"""Exception with which click 8.2 and newer show the help of a command; (): earlier versions."""


@contextmanager
def _ending(command: Callable[[], click.Command | None]) -> Iterator[None]:
    """Convert an error that ends a command to at most one line on stderr and an exit code.

    command  function that returns the command, for names of options in messages; None: no command
    """
    try:
        yield
    except SmfError as error:
        code = EXIT_USAGE if isinstance(error, RequestError) else EXIT_FAILED
        ran = command()
        _leave(code, in_options(error, ran) if ran else str(error), error)
    except click.UsageError as error:
        raise _printable(error) from error
    except KeyboardInterrupt as error:
        if ASKED.signal is not None:
            _leave(EXIT_SIGNAL + ASKED.signal, "terminated", error)
        _leave(EXIT_INTERRUPTED, "interrupted", error)
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # discards text that is not written yet
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(EXIT_CLOSED_PIPE)
    except OSError as error:  # also of click, if it cannot write --help
        place = error.filename or "standard output"
        _leave(EXIT_FAILED, f"{place}: {error.strerror or error}", error)


def _write_utf8() -> None:
    """Make stdout and stderr write UTF-8 to files and other programs, as --output does.

    The encoding of a terminal, or in PYTHONIOENCODING, is kept. Characters that an encoding lacks
    are written as escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            asked = stream.isatty() or "PYTHONIOENCODING" in os.environ
            stream.reconfigure(encoding=None if asked else "utf-8", errors="backslashreplace")


def _printable(error: click.UsageError) -> click.UsageError:
    """Return an error of click without control characters from arguments in its message."""
    if isinstance(error, _HELP):
        return error
    return click.UsageError(visible(error.format_message()), error.ctx)


def _leave(code: int, message: str = "", error: BaseException | None = None) -> None:
    with suppress(OSError):
        if error is not None:
            report_error(f"smfparse: {message}", error)
    sys.exit(code)


_NAMES = (
    *("info", "summary", "check", "trend", "dashboard", "plot", "report", "compare", "capacity"),
    *("convert", "compact", "sql", "describe", "dump", "generate"),
    *("anonymise", "man", "completion"),
)
_OF_INPUT_ALONE = "summary"
"""Name of the command that runs if INPUT is given without a command."""


def _unknown_name(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), _NAMES, 3)
    way_out = did_you_mean(near, "smfparse --help lists the commands")
    return f"{name!r} is neither a command nor an existing file; {way_out}"


class _NoPandas:
    """Hides pandas from a process that runs a command.

    pyarrow loads an installed pandas with the first array, to recognise pandas objects. No command
    uses such objects, and loading pandas takes longer than most commands.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas; other finders handle all other modules."""
        if name == "pandas":
            raise ModuleNotFoundError("no command needs pandas", name=name)


class _Commands(Mapping[str, click.Command]):
    """The commands by name; the module of a command is imported when the command is used."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in _NAMES:
            raise KeyError(name)
        found: click.Command = import_module(f"smfparse.cli.{name}").command
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


class _Group(click.Group):
    """Ends every command with its exit code."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()  # type: ignore[assignment] # no command is added

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, corrected(args))

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _ending(lambda: None):
            return super().make_context(*arguments, **options)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the requested command; `summary` if INPUT is given without a command."""
        name = args[0]
        if name not in self.commands and not ctx.resilient_parsing:
            if not is_input(name) and not is_path(name):
                raise click.UsageError(_unknown_name(name), ctx)
            args = [_OF_INPUT_ALONE, *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        return found or [CompletionItem(incomplete, type="file")]

    def invoke(self, context: click.Context) -> Any:
        _write_utf8()
        named = partial(self.get_command, context)
        with (
            BAR.of_command(),
            PROGRESS.told_by(report_message),
            _ending(lambda: named(context.invoked_subcommand or "")),
            ended_by_signals(),
        ):
            return super().invoke(context)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="smfparse")
def main() -> None:
    """Analyse IBM MQ for z/OS performance from SMF 115 and 116 records.

    \b
    Start here:
      smfparse DUMP.smf               one-screen summary (same as summary)
      smfparse check DUMP.smf         findings and recommended actions
      smfparse report log DUMP.smf    one report

    \b
    Exit codes:
      0    success, even if a report has no data
      2    usage error: unknown name, failing SQL, output file already exists
      3    check --fail-on: a finding of that severity or a more serious one
      4    part of the input was damaged; stderr shows the damage
      8    no result: unusable input, no selected record, damage with --strict,
           disk full, --timeout or --max-copy reached
      130  interrupted (Ctrl-C)
      141  output pipe closed (SIGPIPE)
      143  terminated (SIGTERM); 129: terminal closed (SIGHUP)
    """


_CYCLE_THRESHOLD = 100_000
"""Number of new objects after which Python searches for reference cycles."""


def _leave_garbage() -> None:
    """Exclude existing objects from garbage collection: DuckDB reports errors if they are freed."""
    if "_duckdb" not in sys.modules:  # `duckdb` is missing if its load was interrupted
        gc.freeze()


def command_line() -> None:
    """Run the command line in this process, and end the process with its exit code.

    Reference cycles are searched rarely: loading libraries creates many objects, but no cycles.
    """
    gc.set_threshold(_CYCLE_THRESHOLD)
    atexit.register(_leave_garbage)
    sys.meta_path.insert(0, _NoPandas())
    main()
