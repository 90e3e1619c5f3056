"""Where results and messages go: data on stdout or in a file, messages on stderr.

Nothing else of smfparse prints. What is printed here has no character that moves others.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from smfparse.errors import DamageLog, OutputError, QueryError
from smfparse.rendering import TEXT, visible, visible_lines

if TYPE_CHECKING:
    from smfparse.inputs import Inputs
    from smfparse.rendering import Document

EXIT_DAMAGE = 4
_AT_ONCE = 1 << 16
"""Characters that are written to stdout at once, about: each write takes its time."""
_ENDINGS = {
    "arrow": "arrow",
    "csv": "csv",
    "db": "duckdb",
    "duckdb": "duckdb",
    "html": "html",
    "json": "json",
    "jsonl": "jsonl",
    "md": "md",
    "parquet": "parquet",
    "smf": "smf",
    "xlsx": "xlsx",
}
"""What names of files end in, and the format that this says."""


def said_format(path: Path) -> str | None:
    """Return the format that the end of a name says, as csv or csv.gz; None: it says none."""
    name = path.name.lower()
    packed = ".gz" if name.endswith(".gz") else ""
    _, dot, ending = name.removesuffix(packed).rpartition(".")
    return f"{_ENDINGS[ending]}{packed}" if dot and ending in _ENDINGS else None


def check_name(path: Path, format: str, formats: Collection[str] = ()) -> None:  # noqa: A002 - as everywhere
    """Raise UsageError where the end of a name says another format than the one that is written.

    formats  those that the option --format takes
    """
    said = said_format(path)
    if said is None or said == format:
        return
    way_out = f"give --format {said}, or another name" if said in formats else "give another name"
    raise click.UsageError(f"{path}: {format} is written, and the name says {said}; {way_out}")


class Output(NamedTuple):
    """Where a result is written, and in which format.

    path   None: standard output
    force  whether a file there is replaced
    """

    format: str
    path: Path | None
    force: bool

    def write(self, document: Document) -> None:
        """Write a result in the format."""
        from smfparse.rendering import lines

        _write_lines(lines(document, self.format), self.path, self.force)

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write lines of text."""
        _write_lines(map(visible, lines), self.path, self.force)

    def write_page(self, lines: Iterable[str]) -> None:
        """Write the lines of a page, which has made visible what is in it."""
        _write_lines(lines, self.path, self.force)

    def check_text(self, option: str) -> None:
        """Raise UsageError where what an option prints, which is text, is wanted in a format."""
        if self.format != TEXT:
            raise click.UsageError(f"{option} prints text; leave out --format.")

    def can_show(self, characters: str) -> bool:
        """Whether characters can be written: a terminal may have no codes for them."""
        if self.path is not None:
            return True
        try:
            characters.encode(sys.stdout.encoding or "utf-8")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def write_parquet(self, rows: Any) -> None:
        """Write a pyarrow.Table as Parquet."""
        _write_parquet(rows, self.path, self.force)


@contextmanager
def output_stream(output: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a temporary file beside `output` that takes its place when all is written, or goes.

    A device or a pipe is written to itself.

    Raises RequestError where `output` exists (unless `force`), OutputError where it cannot be
    written.
    """
    if _is_special(output):
        with output.open("wb") as stream:
            yield stream
        return
    from smfparse import store

    store.check_file(output, force)
    with store.replacing(output) as part, part.open("xb") as stream:
        yield stream


def _is_special(output: Path) -> bool:
    return output.exists() and not (output.is_file() or output.is_dir())


def _write_lines(lines: Iterable[str], output: Path | None, force: bool) -> None:
    """Write lines of a format to stdout, or to the file `output`: whole or not at all."""
    if output is None:
        try:
            _print(lines)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"standard output: {error.strerror or error}") from error
        return
    with output_stream(output, force) as file:
        file.writelines(f"{line}\n".encode(errors="backslashreplace") for line in lines)


def _print(lines: Iterable[str]) -> None:
    """Write text lines to stdout, many at once; also those in front of an error."""
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
    """Write the lines of a list to stdout, and take them out of it."""
    if held:
        text = "\n".join(held)
        held.clear()
        show(text)


def _write_parquet(rows: Any, output: Path | None, force: bool) -> None:
    """Write a pyarrow.Table as Parquet to stdout, or to the file `output`: whole or not at all."""
    import pyarrow.parquet as pq

    if output is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is a binary format: give a file with --output.")
    if output is not None:
        with output_stream(output, force) as file:
            pq.write_table(rows, file)
        return
    found = BytesIO()
    pq.write_table(rows, found)
    sys.stdout.buffer.write(found.getbuffer())
    sys.stdout.buffer.flush()


def show(line: str) -> None:
    """Print a line of a format, which has made visible what is in it, on stdout."""
    click.echo(line)


def report_message(message: str) -> None:
    """Print a message on stderr, as one line."""
    click.echo(visible(f"smfparse: {message}"), err=True)


def report_error(message: str, error: BaseException) -> None:
    """Print the message of an error on stderr: one line, or those of a query that fails."""
    shown = visible_lines(message) if isinstance(error, QueryError) else visible(message)
    click.echo(shown, err=True)


def report_selection(opened: Inputs) -> None:
    """Print what was selected, if anything, where nothing was found."""
    if not opened.selection.everything:
        report_message(f"only records with these were read: {opened.selection}")


def nothing_selected(opened: Inputs) -> bool:
    """Return whether records were selected, but there is none; print that on stderr then."""
    if opened.selection.everything or opened.any_record():
        return False
    report_message(f"the selection matches no record: {opened.selection}")
    return True


def finish(
    damage: DamageLog,
    duplicates: int = 0,
    *,
    listed: bool = False,
    reported: bool = False,
    code: int = 0,
) -> None:
    """Report duplicates and damage on stderr; if there is damage, leave with exit code 4.

    duplicates  records left out because an earlier dump has them
    listed      whether the result lists the damage
    reported    whether the damage was reported as it was met
    code        an exit code that goes before that of damage; 0: there is none
    """
    if duplicates:
        from smfparse.inspecting import left_out

        report_message(f"{left_out(duplicates)} (--keep-duplicates keeps them)")
    if damage:
        if not reported:
            report_damage(damage, listed=listed)
        sys.exit(code or EXIT_DAMAGE)
    if code:
        sys.exit(code)


def report_damage(damage: DamageLog, *, listed: bool = False) -> None:
    """Print on stderr what could not be used."""
    if not damage:
        return
    if not listed:
        from smfparse.inspecting import SHOWN_DAMAGE, more

        for each in damage.details[:SHOWN_DAMAGE]:
            report_message(str(each))
        if damage.count > SHOWN_DAMAGE:
            report_message(f"... {more(damage)}")
    report_message(
        "the input is damaged; everything else was used; --strict stops at the first damage"
    )
