"""Output of results on stdout or to a file, and of messages on stderr.

Only this module, `pager` and `progress` print. Printed text contains no control characters.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

import click

from smfparse.cli.progress import BAR
from smfparse.errors import DamageLog, InputError, OutputError, QueryError
from smfparse.reading.places import Place
from smfparse.rendering.figures import visible, visible_lines
from smfparse.rendering.formats import DOT, MERMAID, TEXT, XLSX

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.rendering.document import Document

_Result = TypeVar("_Result")
EXIT_DAMAGE = 4
UNPAGED, COLOURS = f"{__name__}.unpaged", f"{__name__}.colours"
"""Keys in `meta` of a command's context: values of --no-pager and --color."""
_AT_ONCE = 1 << 16
"""Approximate number of characters per write to stdout: one write per line would be slow."""
_MOST_ON_TERMINAL = 100_000
"""Maximum number of lines on a terminal, unless --no-pager is given."""
_ENDINGS = {
    "arrow": "arrow",
    "csv": "csv",
    "db": "duckdb",
    "duckdb": "duckdb",
    "html": "html",
    "json": "json",
    "jsonl": "jsonl",
    "md": "md",
    "ndjson": "ndjson",
    "parquet": "parquet",
    "png": "png",
    "smf": "smf",
    "svg": "svg",
    "xlsx": "xlsx",
}
"""Format of each extension of a file name."""
_OF_OTHERS = frozenset({"doc", "docx", "ods", "odt", "pdf", "ppt", "pptx", "ps", "xls"})
"""Extensions of other formats, which no command writes."""
_OF_GRAPHS = frozenset({DOT, MERMAID})
"""Formats of reports that are graphs."""

_OF_TEXT = frozenset({"log", "lst", "out", "prn", "text", "txt"})
"""Extensions of text files."""


def format_of_name(path: Place) -> str | None:
    """Return the format for the extension of a name, such as csv or csv.gz; None: unknown."""
    name = path.name.lower()
    packed = ".gz" if name.endswith(".gz") else ""
    _, dot, ending = name.removesuffix(packed).rpartition(".")
    return f"{_ENDINGS[ending]}{packed}" if dot and ending in _ENDINGS else None


def has_unknown_ending(path: Path) -> bool:
    """Whether the extension of a name does not show a format: `x.foo`."""
    ending = path.suffix.lower().removeprefix(".")
    known = ending in _OF_TEXT or ending in _OF_OTHERS or format_of_name(path) is not None
    return bool(ending) and not known and not _is_special(path)


def check_name(path: Path, format: str, formats: Collection[str] = ()) -> None:  # noqa: A002 - the same name everywhere
    """Raise UsageError if the extension of a name belongs to another format than `format`.

    formats  the values that --format accepts
    """
    ending = path.suffix.lower().removeprefix(".")
    known = ", ".join(each for each in formats or (format,) if each not in _OF_GRAPHS)
    if ending in _OF_OTHERS:
        raise click.UsageError(
            f"{path}: the format {ending} is not supported here; choose one of {known}"
        )
    implied = format_of_name(path)
    if implied is None or implied == format:
        return
    if implied in formats:
        way_out = f"use --format {implied}, or another name"
    else:
        way_out = "use another name" + (f"; formats: {known}" if formats else "")
    raise click.UsageError(
        f"{path}: the format is {format}, but the name says {implied}; {way_out}"
    )


class Output(NamedTuple):
    """The destination and format of a result.

    path   path of the file; None: standard output
    force  whether an existing file is replaced
    width  maximum number of characters of a line in reports; None: no maximum
    zeros  whether reports print lines whose values are all zero
    """

    format: str
    path: Path | None
    force: bool
    width: int | None = None
    zeros: bool = False

    @property
    def fitting(self) -> int | None:
        """Width of the terminal in characters; None: the result goes to a file or pipe."""
        return terminal_width() if self.path is None else None

    def write(self, document: Document) -> None:
        """Write a result in the requested format."""
        if self.format == XLSX:
            self.write_workbook([document])
            return
        from smfparse.rendering.formats import lines
        from smfparse.rendering.text import coloured

        if self.format == TEXT:
            document.room = min(document.room, self.fitting or document.room)
        found = lines(document, self.format)
        if self.format == TEXT and self.path is None and document.marks and _has_colours():
            found = coloured(found, document.marks)
        _write_lines(found, self.path, self.force)

    def write_workbook(self, documents: Iterable[Document], *, index: bool = False) -> None:
        """Write a workbook with the sheets of all documents; report data that does not fit.

        index  whether the first sheet lists the other sheets
        """
        from smfparse.rendering.xlsx import write_workbook

        messages: list[str] = []
        self._write_binary(
            lambda file: messages.extend(write_workbook(documents, file, index=index))
        )
        for each in messages:
            report_message(each)

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write lines of text."""
        _write_lines(map(visible, lines), self.path, self.force)

    def write_page(self, lines: Iterable[str]) -> None:
        """Write the lines of a page, which already contain no control characters."""
        _write_lines(lines, self.path, self.force)

    def check_text(self, option: str) -> None:
        """Raise UsageError if the format is not text; `option` prints only text."""
        if self.format != TEXT:
            raise click.UsageError(
                f"{option} prints text; leave out --format, or name a file with another extension."
            )

    def can_show(self, characters: str) -> bool:
        """Whether the output can encode these characters; the encoding of a terminal may not."""
        if self.path is not None:
            return True
        try:
            characters.encode(sys.stdout.encoding or "utf-8")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def write_bytes(self, content: bytes) -> None:
        """Write the bytes of a picture to the file."""
        assert self.path is not None
        with output_stream(self.path, self.force) as file:
            file.write(content)

    def write_parquet(self, parts: Iterable[Any]) -> int:
        """Write one or more pyarrow.Tables of one schema as Parquet; return the number of rows."""
        from smfparse.rendering.parquet import write_parquet

        return self._write_binary(lambda file: write_parquet(parts, file))

    def _write_binary(self, write: Callable[[BinaryIO], _Result]) -> _Result:
        """Write binary data to stdout or the file; if `write` fails, nothing is written."""
        if self.path is not None:
            with output_stream(self.path, self.force) as file:
                return write(file)
        found = BytesIO()
        result = write(found)
        sys.stdout.buffer.write(found.getbuffer())
        sys.stdout.buffer.flush()
        return result


@contextmanager
def output_stream(output: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a temporary file, which replaces `output` on success, and is removed after an error.

    A device or a pipe is written directly.

    Raises RequestError if `output` exists (unless `force`), OutputError if it cannot be written.
    """
    if _is_special(output):
        try:
            with output.open("wb") as stream:
                yield stream
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{output}: {error.strerror or error}") from error
        return
    from smfparse.store.targets import new_file

    if not output.parent.exists():
        raise OutputError(f"{output}: the folder {output.parent} does not exist; create it first")
    with new_file(output, force) as stream:
        yield stream


def _is_special(output: Path) -> bool:
    return output.exists() and not (output.is_file() or output.is_dir())


def _write_lines(lines: Iterable[str], output: Path | None, force: bool) -> None:
    """Write lines to stdout, or to the file `output`, which appears only when complete."""
    if output is None:
        try:
            _print_by_screens(lines)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"standard output: {error.strerror or error}") from error
        return
    with output_stream(output, force) as file:
        file.writelines(f"{line}\n".encode(errors="backslashreplace") for line in lines)


def _has_colours() -> bool:
    """Whether to print colours: on a terminal that supports them, unless NO_COLOR is set."""
    asked = _asked(COLOURS)
    if asked is not None:
        return asked
    return on_terminal() and not os.environ.get("NO_COLOR") and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


def on_terminal() -> bool:
    """Whether results go to a terminal."""
    return sys.stdout.isatty()


def fills_terminal() -> bool:
    """Whether results go to a terminal, and --no-pager is not given."""
    return on_terminal() and not _asked(UNPAGED)


def _is_piped() -> bool:
    """Whether results go to another program, which may print them on the same terminal."""
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # a stream without a file
        return False


def terminal_width() -> int | None:
    """Return the width of the terminal in characters; None: results do not go to a terminal."""
    return shutil.get_terminal_size().columns if on_terminal() else None


def _asked(name: str) -> bool | None:
    """Return the value of --no-pager or --color, from its key in `meta`; None: not given."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(name)


def _print_by_screens(lines: Iterable[str]) -> None:
    """Write text to stdout; on a terminal, up to _MOST_ON_TERMINAL lines, with a pager.

    With --timeout no pager is used. Lines that the user does not reach in the pager are not
    computed.
    """
    if not fills_terminal() or _is_limited() or _is_dumb():
        _print(lines)
        return
    from smfparse.cli import pager

    several = chain.from_iterable(each.split("\n") for each in lines)
    room = iter(range(_MOST_ON_TERMINAL))
    some = (line for _, line in zip(room, several))  # noqa: B905 - `room` ends first
    pager.shown(_after_progress(some), sys.stdout.encoding or "utf-8", _print)
    if next(room, None) is None and next(several, None) is not None:
        report_message(
            f"first {_MOST_ON_TERMINAL:,} lines shown; select fewer records (--from, --qmgr, "
            "--job), write a file (--output), or print all with --no-pager"
        )


def _is_limited() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and context.params.get("timeout") is not None


def _after_progress(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines for the terminal; remove the progress line before each line."""
    for line in lines:
        BAR.leave()
        yield line


def _print(lines: Iterable[str]) -> None:
    """Write lines to stdout, many per write; if `lines` fails, the lines before are written."""
    held: list[str] = []
    size = 0
    try:
        for line in lines:
            held.append(line)
            size += len(line)
            if size >= _AT_ONCE:
                size = 0
                _print_all(held)
    finally:
        _print_all(held)


def _print_all(held: list[str]) -> None:
    if held:
        text = "\n".join(held)
        held.clear()
        show(text)


def show(line: str) -> None:
    """Print a line, which already contains no control characters, on stdout."""
    if on_terminal() or _is_piped():
        BAR.leave()
    click.echo(line, color=True)


def report_message(message: str) -> None:
    """Print a message on stderr, as one line."""
    BAR.clear()
    click.echo(visible(f"smfparse: {message}"), err=True)


def report_error(message: str, error: BaseException) -> None:
    """Print the message of an error on stderr: one line, or several for a failing query."""
    BAR.clear()
    shown = visible_lines(message) if isinstance(error, QueryError) else visible(message)
    click.echo(shown, err=True)


def report_selection(opened: Inputs) -> None:
    """Print a message with the selection, if any, for results without rows."""
    if not opened.selection.everything:
        report_message(f"only records with these were read: {opened.selection}")


def check_selection(opened: Inputs, wanted: str = "") -> None:
    """Raise InputError if no record is selected; the message shows the time that the input covers.

    Damage is reported first.

    wanted  description of the missing records; '': any records
    """
    if opened.selection.everything:
        return
    is_any = opened.any_rows()
    if is_any and not wanted:
        return
    report_damage(opened.damage)
    raise InputError(f"no records {wanted if is_any else ''}{unmatched_text(opened)}")


def unmatched_text(opened: Inputs) -> str:
    """Return the end of a message: the selection that no record matches, and the input's time."""
    from smfparse.inspecting.inventory import extent_text

    return f"match {str(opened.selection).replace('counted ', '')}; {extent_text(opened)}"


def finish(
    damage: DamageLog,
    duplicates: int = 0,
    *,
    listed: bool = False,
    reported: bool = False,
    code: int = 0,
) -> None:
    """Report duplicates and damage on stderr; after damage, end with exit code 4.

    duplicates  number of records omitted because an earlier dump contains them
    listed      whether the result already lists the damage
    reported    whether the damage was already reported
    code        exit code that replaces EXIT_DAMAGE, and applies without damage too; 0: none
    """
    if duplicates:
        from smfparse.inspecting.printing import left_out

        report_message(f"{left_out(duplicates)} (--keep-duplicates keeps them)")
    if damage:
        if not reported:
            report_damage(damage, listed=listed)
        sys.exit(code or EXIT_DAMAGE)
    if code:
        sys.exit(code)


def report_damage(damage: DamageLog, *, listed: bool = False) -> None:
    """Print the damage of the inputs on stderr."""
    if not damage:
        return
    if not listed:
        from smfparse.inspecting.printing import SHOWN_DAMAGE, more

        for each in damage.details[:SHOWN_DAMAGE]:
            report_message(str(each))
        if damage.count > SHOWN_DAMAGE:
            report_message(f"... {more(damage)}")
    report_message(
        "the input is damaged; all other records were used; --strict stops at the first damage"
    )
