"""The output of a report, alone or as one of all reports: a folder of files, or a workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from smfparse.cli.options import Reading
from smfparse.cli.output import (
    Output,
    check_selection,
    fills_terminal,
    finish,
    report_message,
    report_selection,
    unmatched_text,
)
from smfparse.errors import InputError
from smfparse.rendering.formats import DOT, MERMAID, PARQUET, TEXT, XLSX

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.query.catalog import Catalog
    from smfparse.reports.declaration import Report
    from smfparse.reports.printing import ReportDocument
    from smfparse.reports.sections import Sections

_LEAST_WIDTH = 40
"""Minimum number of characters per line; narrower tables are unreadable."""
_LONGER = 1.5
"""A recorded interval is longer than requested if its length exceeds the request by this factor."""
_MOST_TASKS = 1_000
"""Maximum number of tasks, of about 30 lines each, in a report on a terminal."""
DRAWN = (DOT, MERMAID)
"""Formats of reports that are graphs."""


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options for text, stored in `output`; place this decorator below `output_options`."""

    @click.option(
        "--width",
        type=click.IntRange(min=_LEAST_WIDTH),
        metavar="N",
        help="Fold text lines longer than N characters; default: terminal width.",
    )
    @click.option(
        "--all",
        "zeros",
        is_flag=True,
        help="Also print text lines whose values are all 0; other formats always contain them.",
    )
    @wraps(command)
    def run(*arguments: Any, output: Output, width: int | None, zeros: bool, **options: Any) -> Any:
        output = output._replace(width=width or output.fitting, zeros=zeros)
        return command(*arguments, output=output, **options)

    return run


def is_workbook(path: Path | None) -> bool:
    """Whether the path of an output ends in .xlsx."""
    return path is not None and path.suffix.lower() == f".{XLSX}"


def write_report(
    which: Report,
    catalog: Catalog,
    opened: Inputs,
    output: Output,
    sections: Sections | None,
    asked: Mapping[str, Any],
    *,
    empty: bool = True,
) -> bool:
    """Write a report in the format of `output`; return whether the report has rows.

    empty  whether a report without rows is written

    Raises UsageError for a report that is too long for a terminal.
    """
    from smfparse.advice.answering import answered_parts, answered_rows
    from smfparse.reports.graph import graph_lines
    from smfparse.reports.printing import ReportDocument

    if which.per_task and output.format == TEXT and output.path is None and fills_terminal():
        _check_length(which, catalog)
    if output.format == PARQUET:
        with closing(answered_parts(which, catalog, sections, **asked)) as parts:
            first = []
            for part in parts:
                first.append(part)
                if part.num_rows:
                    break
            there = any(part.num_rows for part in first)
            report_absent(which, opened, asked, there)
            if there or empty:
                output.write_parquet(chain(first, parts))
        return there
    with closing(answered_rows(which, catalog, sections, **asked)) as rows:
        found = list(islice(rows, 1))
        report_absent(which, opened, asked, bool(found))
        _report_longer(found, sections)
        every = chain(found, rows)
        if not found and not empty:
            return False
        if output.format in DRAWN:
            output.write_lines(graph_lines(every, output.format))
        else:
            output.write(ReportDocument(which, every, asked, output.width, zeros=output.zeros))
    return bool(found)


def _check_length(which: Report, catalog: Catalog) -> None:
    """Raise UsageError if a report has more tasks than a user can read."""
    tasks = catalog.arrow(f"SELECT count(*) AS tasks FROM {which.main[0]}").to_pylist()[0]["tasks"]
    if tasks > _MOST_TASKS:
        raise click.UsageError(
            f"The report {which.name} has lines for each of {tasks:,} tasks; select fewer (--job, "
            "--queue, --from), write a file (--output), use a pipe, or print all with --no-pager. "
            "The report tasksum has one line per job."
        )


def _report_longer(first: Sequence[Mapping[str, Any]], sections: Sections | None) -> None:
    """Print a message if recorded intervals are longer than the requested intervals."""
    from smfparse.metrics.calendar import length_text

    recorded = first[0].get("interval_seconds") if first else None
    if (
        recorded
        and sections is not None
        and sections.seconds
        and recorded > _LONGER * sections.seconds
    ):
        report_message(
            f"--interval {length_text(sections.seconds)}: the recorded intervals are longer "
            f"({length_text(recorded)}) and cannot be divided"
        )


def report_absent(which: Report, opened: Inputs, asked: Mapping[str, Any], there: bool) -> None:
    """Print possible reasons on stderr if a report has no rows (`there` is False).

    Raises InputError if the selection contains no record.
    """
    if there:
        return
    from smfparse.inputs.opening import with_all_records

    check_selection(opened)
    from smfparse.inspecting.inventory import extent_text

    given = {each: asked[each] for each in which.required if asked.get(each)}
    named = [f"{each} {','.join(sorted(names))}" for each, names in given.items()]
    if named and opened.any_rows(which.main):
        raise InputError(f"no records match {' and '.join(named)}; {extent_text(opened)}")
    if opened.selection.everything or not with_all_records(opened).any_rows(which.main):
        report_message(which.absent())
        report_selection(opened)
    else:
        report_message(f"no records for the report {which.name} {unmatched_text(opened)}")


_Asked: TypeAlias = "tuple[Report, dict[str, Any]]"
"""A report and its options."""


def write_all(
    inputs: tuple[str, ...],
    output: Output,
    reading: Reading,
    sections: Sections | None,
    asked: Mapping[str, Any],
) -> None:
    """Write all reports of inputs; list omitted reports, duplicates and damage on stderr."""
    from smfparse.query.catalog import Catalog

    if output.format in DRAWN:
        raise click.UsageError(
            f"--format {output.format} draws only the report flow; use report flow, not report all."
        )
    chosen = [(each, _taken(each, asked)) for each in _possible(reading)]
    _check_targets(chosen, output)
    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = _with_data(chosen, catalog)
        if found:
            write = _write_book if is_workbook(output.path) else _write_folder
            count = write(found, catalog, opened, output, sections)
            many = "1 report is" if count == 1 else f"{count} reports are"
            report_message(f"{many} in {output.path}")
        else:
            check_selection(opened)
            report_message("the input has no data for any of these reports; nothing is written")
            report_selection(opened)
    finish(opened.damage, opened.duplicates)


def _possible(reading: Reading) -> list[Report]:
    """Return the reports that support the selection; print the reason for others on stderr."""
    from smfparse.reports.declaration import report, report_names

    found = []
    for which in map(report, report_names()):
        unknown = reading.selection.unknown_to(which.tables)
        if which.required:
            owners = " or ".join(which.required)
            reason = f"it is about one {owners}; use smfparse report {which.name}"
        elif unknown:
            reason = f"it has no {' and no '.join(unknown)} names"
        else:
            found.append(which)
            continue
        report_message(f"{which.name} is left out: {reason}")
    return found


def _taken(which: Report, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a report accepts. Raises RequestError for a wrong value."""
    found = {name: value for name, value in asked.items() if name in which.options}
    which.values(found)
    return found


def _target(which: Report, output: Output) -> Output:
    assert output.path is not None
    ending = "txt" if output.format == TEXT else output.format
    return output._replace(path=output.path / f"{which.name}.{ending}")


def _check_targets(chosen: Sequence[_Asked], output: Output) -> None:
    """Raise RequestError if a file cannot be written; called before inputs are read."""
    from smfparse.store.targets import check_file, check_folder

    assert output.path is not None
    if is_workbook(output.path):
        check_file(output.path, output.force)
        return
    check_folder(output.path, lambda _: None, "", output.force)
    for which, _ in chosen:
        target = _target(which, output).path
        assert target is not None
        check_file(target, output.force)


def _with_data(chosen: Sequence[_Asked], catalog: Catalog) -> list[_Asked]:
    """Return the reports with data, and their options; name the other reports on stderr."""
    from smfparse.reports.listing import reports_listed

    filled = {each.name for each in reports_listed(catalog) if each.data != "no"}
    empty = [which.name for which, _ in chosen if which.name not in filled]
    if empty:
        report_message(f"left out, no data: {', '.join(empty)}")
    return [(which, asked) for which, asked in chosen if which.name in filled]


def _write_folder(
    found: Sequence[_Asked],
    catalog: Catalog,
    opened: Inputs,
    output: Output,
    sections: Sections | None,
) -> int:
    """Write each report with rows to a file; return the number of files."""
    from smfparse.store.targets import in_folder

    assert output.path is not None
    with in_folder(output.path):
        return sum(
            write_report(
                *(which, catalog, opened, _target(which, output), sections, asked), empty=False
            )
            for which, asked in found
        )


def _write_book(
    found: Sequence[_Asked],
    catalog: Catalog,
    opened: Inputs,
    output: Output,
    sections: Sections | None,
) -> int:
    """Write each report with rows to a sheet of one workbook; return the number of sheets."""
    from smfparse.advice.answering import answered_rows
    from smfparse.reports.printing import ReportDocument

    written = 0

    def documents() -> Iterator[ReportDocument]:
        nonlocal written
        for which, asked in found:
            with closing(answered_rows(which, catalog, sections, **asked)) as rows:
                first = list(islice(rows, 1))
                report_absent(which, opened, asked, bool(first))
                if first:
                    written += 1
                    yield ReportDocument(_with_default_headings(which), chain(first, rows), asked)

    output.write_workbook(documents(), index=True)
    return written


def _with_default_headings(which: Report) -> Report:
    """Return a report with the default headings of keys instead of MP1B's headings."""
    from smfparse.reports.declaration import KEY_HEADINGS

    headings = {key: heading for heading, key in KEY_HEADINGS.items()} | {"qsg": "QSG"}
    keys = {headings.get(key, heading): key for heading, key in which.csv_keys.items()}
    return replace(which, csv_keys=keys)
