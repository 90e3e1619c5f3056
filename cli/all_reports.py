"""All reports: a folder with one file per report, or a workbook with one sheet per report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from smfparse.cli.options import Reading
from smfparse.cli.output import Output, check_selection, finish, report_message, report_selection
from smfparse.cli.report_files import DRAWN, is_workbook, report_absent, write_report
from smfparse.rendering.formats import TEXT

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.query.catalog import Catalog
    from smfparse.reports.declaration import Report
    from smfparse.reports.printing import ReportDocument
    from smfparse.reports.sections import Sections

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
