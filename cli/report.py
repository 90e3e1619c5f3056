"""smfparse report: the reports of MP1B, and more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import (
    INPUT_HELP,
    Reading,
    completed_files,
    output_options,
    reading_options,
)
from smfparse.cli.output import Output, finish, format_of_name, report_message
from smfparse.cli.report_files import DRAWN, is_workbook, text_options, write_report
from smfparse.cli.words import is_input
from smfparse.rendering.formats import PARQUET, TEXT, XLSX

if TYPE_CHECKING:
    from smfparse.reports.declaration import Report
    from smfparse.reports.sections import Sections

_ALL = "all"
"""Name for all reports."""


def _format(options: Mapping[str, Any]) -> str:
    """Return the default format: CSV for an MP1B DD name that ends in CSV.

    The default for all reports is XLSX if the output is named *.xlsx.
    """
    name, prints_text = options["name"], options["explain"] or options["listed"]
    if _is_all(name) and not prints_text:
        _check_several(options["output"])
        if is_workbook(options["output"]):
            return XLSX
    return "csv" if name and not prints_text and name.upper().endswith("CSV") else TEXT


def _check_several(output: Path | None) -> None:
    """Raise UsageError if the output of all reports is neither a folder nor a workbook."""
    if output is None or (format_of_name(output) not in (None, XLSX) and not output.is_dir()):
        raise click.UsageError(
            "report all writes several files; name a folder (--output reports) or a workbook "
            "(--output book.xlsx)."
        )


def _is_all(name: str | None) -> bool:
    return name is not None and name.lower() == _ALL


def _names(_context: click.Context, _argument: click.Parameter, text: str) -> list[str]:
    from smfparse.reports.declaration import report_names

    return [each for each in (*report_names(), _ALL) if each.startswith(text.lower())]


@click.command(
    "report", short_help="Print a report of MP1B, or one of smfparse.", epilog=INPUT_HELP
)
@click.argument("name", metavar="NAME", required=False, shell_complete=_names)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str, shell_complete=completed_files)
@click.option(
    "--interval",
    metavar="LENGTH",
    help="Print one section per queue manager and interval of this length (30s, 15m, 1h), from "
    "midnight.",
)
@click.option(
    "--total", is_flag=True, help="Print one section per queue manager for the whole input."
)
@click.option(
    "--by",
    metavar="NAMES",
    help="Group the rows of api-cost, smf-volume and clients by these columns: 'qmgr,job,queue'; "
    "the rows of tasksum, qall and class1 by transaction.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show only the N largest rows of each table; api-cost then omits the coupling facility "
    "rows.",
)
@click.option(
    "--sort",
    metavar="METRIC",
    help="Sort the rows of each section by this metric, the largest first; --explain lists the "
    "metrics; api-cost: cpu or elapsed.",
)
@click.option(
    "--every",
    is_flag=True,
    default=None,
    help="Print each message once per interval, not once for all intervals.",
)
@click.option(
    "--stream",
    multiple=True,
    metavar="BASE=STREAM",
    help="For the streaming report: treat STREAM as the streaming queue of BASE.",
)
@click.option(
    "--maxinst",
    multiple=True,
    metavar="CHANNEL=NUMBER",
    help="For the clients report: show the instances of CHANNEL as a percentage of this MAXINST.",
)
@click.option(
    "--acctime",
    metavar="MMMM.SS",
    help="Project smf-volume to this accounting interval: 0.15; 0: the SMF interval; -1: the "
    "statistics interval.",
)
@click.option(
    "--statime",
    metavar="MMMM.SS",
    help="Project smf-volume to this statistics interval: 1.00; 0: the SMF interval.",
)
@click.option(
    "--smf-interval",
    metavar="MMMM.SS",
    help="Use this as the SMF interval (INTVAL of SMFPRMxx) for --acctime 0 and --statime 0.",
)
@click.option(
    "--qsg",
    metavar="NAME",
    help="Assume this queue-sharing group for shared queues whose records do not name one.",
)
@click.option("--explain", is_flag=True, help="Print the formula of each metric; needs no INPUT.")
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="List the reports. With INPUT, show whether it has data for each; with --explain, also "
    "show MP1B's DD names and the traces.",
)
@reading_options("--until", "--to")
@output_options(PARQUET, *DRAWN, otherwise=_format, words="text; csv for a DD name in CSV")
@text_options
def command(
    name: str | None,
    inputs: tuple[str, ...],
    explain: bool,
    listed: bool,
    output: Output,
    reading: Reading,
    **asked: Any,
) -> None:
    """Print the report NAME: one section per queue manager and interval.

    NAME is a report (log) or a DD name of MP1B (LOG, LOGCSV); --list shows the names. A DD name
    that ends in CSV prints CSV, unless --format is given. Times are local times of the z/OS
    system, or of the zone in --tz. A metric without data is shown as -.

    --interval and --total add counters, and keep the highest high-water mark, the lowest low-water
    mark and the last gauge. Ratios are computed from these. With --interval 1d, each interval
    contains the records of that day that --from and --until select.

    The name all writes each report with data in INPUT: as a file in the folder --output, or as a
    sheet of the workbook --output book.xlsx. Reports that do not support the selection are
    omitted, with a message. An option applies to the reports that have it.

    \b
    Example:
      smfparse report --list DUMP.smf
      smfparse report log DUMP.smf
      ssh zos 'cat dump.smf' | smfparse report log -
      smfparse report buff DUMP.smf --interval 1h --format csv --output buff.csv
      smfparse report queues DUMP.smf --interval 15m --format csv --output queues.csv
      smfparse report channels DUMP.smf --sort bytes --top 10
      smfparse report clients DUMP.smf --by address
      smfparse report clients DUMP.smf --maxinst APP.SVRCONN=200
      smfparse report log DUMP.smf --qmgr QM01 --from 0800 --until 1800
      smfparse report tasksum DUMP.smf --by transaction
      smfparse report all DUMP.smf --format csv --output reports
    """
    if listed or _lists(name):
        _list(name, inputs, output, reading, explain)
    elif explain:
        _explain(name, output)
    elif _is_all(name):
        _print_all(inputs, output, reading, **asked)
    else:
        _print(name, inputs, output, reading, **asked)


def _lists(name: str | None) -> bool:
    """Whether the name is an input and not a report. If so, the reports are listed."""
    from smfparse.reports.declaration import is_report

    if name is None or _is_all(name) or is_report(name) or not is_input(name):
        return False
    report_message("no report is named; give one of these, which have data:")
    return True


def _sections(interval: str | None, total: bool) -> Sections | None:
    """Return the sections that the options request; None: as declared by the report."""
    from smfparse.reports.sections import TOTAL, every

    if interval and total:
        raise click.UsageError("--interval and --total exclude each other; give one of them.")
    return TOTAL if total else every(interval) if interval else None


def _report(name: str | None) -> Report:
    from smfparse.reports.declaration import report

    if name is None:
        raise click.UsageError("Missing argument 'NAME'; --list names the reports.")
    return report(name)


def _explain(name: str | None, output: Output) -> None:
    from smfparse.reports.running import explain

    if _is_all(name):
        raise click.UsageError("--explain explains one report; name it instead of all.")
    which = _report(name)
    output.check_text("--explain")
    output.write_lines(explain(which))


def _print(
    name: str | None,
    inputs: tuple[str, ...],
    output: Output,
    reading: Reading,
    *,
    interval: str | None,
    total: bool,
    **asked: Any,
) -> None:
    """Write a report of inputs; report absent data, duplicates and damage on stderr."""
    from smfparse.query.catalog import Catalog
    from smfparse.reports.graph import has_edges

    which, sections = _report(name), _sections(interval, total)
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    named = {each: reading.selection.by_name.get(each, ()) for each in which.required}
    reading, asked = reading.without(which.required), asked | named
    unknown = reading.selection.unknown_to(which.tables)
    if unknown:
        raise click.UsageError(
            f"The report {which.name} has no {' and no '.join(unknown)} names; "
            f"leave out {' and '.join(f'--{each}' for each in unknown)}."
        )
    if output.format in DRAWN and not has_edges(which):
        raise click.UsageError(
            f"--format {output.format} draws only the report flow, not {which.name}; choose "
            "another format."
        )
    which.values(asked)
    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        write_report(which, catalog, opened, output, sections, asked)
    finish(opened.damage, opened.duplicates)


def _print_all(
    inputs: tuple[str, ...],
    output: Output,
    reading: Reading,
    *,
    interval: str | None,
    total: bool,
    **asked: Any,
) -> None:
    from smfparse.cli.report_files import write_all

    sections = _sections(interval, total)
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    if asked["sort"]:
        raise click.UsageError("--sort requires one report; replace all with its name.")
    _check_several(output.path)
    write_all(inputs, output, reading, sections, asked)


def _list(
    name: str | None,
    inputs: tuple[str, ...],
    output: Output,
    reading: Reading,
    at_length: bool,
) -> None:
    """Write the list of reports; with inputs (first: `name`), also which reports have data."""
    from smfparse.reports.declaration import is_report
    from smfparse.reports.listing import ListDocument, reports_listed

    if output.format in (PARQUET, *DRAWN):
        raise click.UsageError(
            f"--list cannot be written as {output.format}; choose another format."
        )
    if name and is_report(name) and not Path(name).exists():
        raise click.UsageError(f"--list takes inputs, not a report; leave out {name}.")
    if name is None:
        output.write(ListDocument(reports_listed(), at_length=at_length))
        return
    from smfparse.query.catalog import Catalog

    opened = reading.open((name, *inputs), output.path)
    with Catalog(opened) as catalog:
        output.write(ListDocument(reports_listed(catalog), at_length=at_length))
    finish(opened.damage, opened.duplicates)
