"""smfparse report: the reports of MP1B, and more."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, write_lines, write_parquet

if TYPE_CHECKING:
    from smfparse.inputs.opening import Inputs
    from smfparse.reports import Report, Sections


@click.command("report", epilog=INPUT_HELP)
@click.argument("name", metavar="NAME", required=False)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str)
@click.option(
    "--interval",
    metavar="LENGTH",
    help="One section a queue manager and interval of this length, from midnight on: 30s, 15m, 1h.",
)
@click.option("--total", is_flag=True, help="One section a queue manager for the whole input.")
@click.option(
    "--by",
    metavar="NAMES",
    help="What the rows of api-cost and smf-volume are told apart by: 'qmgr,job,queue'.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    help="Only so many rows of api-cost a section, the dearest, and none of requests to the CF.",
)
@click.option("--sort", type=click.Choice(["cpu", "elapsed"]), help="By what --top is told.")
@click.option(
    "--stream",
    multiple=True,
    metavar="BASE=STREAM",
    help="That the queue BASE has the STREAMQ STREAM, for the report streaming.",
)
@click.option(
    "--acctime", metavar="MMMM.SS", help="Accounting interval that smf-volume projects: 0.15."
)
@click.option(
    "--statime", metavar="MMMM.SS", help="Statistics interval that smf-volume projects: 1.00."
)
@click.option("--explain", is_flag=True, help="Say how each figure comes about; INPUT not needed.")
@click.option(
    "--list", "listed", is_flag=True, help="List the reports, and those that INPUT has data for."
)
@reading_options("--to", "--until")
@output_options("text", "csv", "json", "parquet")
def command(
    name: str | None,
    inputs: tuple[str, ...],
    interval: str | None,
    total: bool,
    explain: bool,
    listed: bool,
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
    **asked: Any,
) -> None:
    """Print the report NAME: one section a queue manager and interval.

    NAME is a report (log) or one of MP1B's DD names (LOG, LOGCSV); --list names them. Times are the
    local times of the z/OS system. A figure whose inputs are not in the data is shown as -.

    With --interval and --total counters are added, high-water marks keep the highest and low-water
    marks the lowest, gauges the last; ratios come from these. Records are selected by the time when
    SMF took them: those of an interval at its end.

    \b
    Example:
      smfparse report --list DUMP.smf
      smfparse report log DUMP.smf
      ssh zos 'cat dump.smf' | smfparse report log -
      smfparse report buff DUMP.smf --interval 1h --format csv --output buff.csv
      smfparse report log DUMP.smf --qmgr QM01 --from 0800 --to 1800
    """
    from smfparse import reports

    if listed:
        if form == "parquet":
            raise click.UsageError("--list is text, csv or json.")
        if name and not Path(name).exists() and reports.is_report(name):
            raise click.UsageError(f"--list takes inputs, and no report: leave out {name}.")
        _list((name, *inputs) if name else (), form, output, force, reading)
        return
    if name is None:
        raise click.UsageError("Missing argument 'NAME'; --list names the reports.")
    which = reports.report(name)
    if explain:
        write_lines(reports.explain(which), output, force)
        return
    _print(which, inputs, _sections(interval, total), asked, form, output, force, reading)


def _sections(interval: str | None, total: bool) -> Sections | None:
    """Return what makes a section; None: what the report itself says."""
    from smfparse.reports import TOTAL, every

    if interval and total:
        raise click.UsageError("--interval and --total exclude each other.")
    return TOTAL if total else every(interval) if interval else None


def _print(
    which: Report,
    inputs: tuple[str, ...],
    sections: Sections | None,
    asked: Mapping[str, Any],
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Write a report of inputs, and say what there is to say of them."""
    from smfparse import reports
    from smfparse.query import Catalog
    from smfparse.reports import printing

    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    unknown = reading.selection.unknown_to(which.tables)
    if unknown:
        raise click.UsageError(f"The report {which.name} has no {' nor '.join(unknown)}.")
    which.values(asked)
    opened = reading.open(inputs, output)
    with Catalog(opened) as catalog:
        if form == "parquet":
            table = reports.report_table(which, catalog, sections, **asked)
            _say_absent(which, opened, table.num_rows > 0)
            write_parquet(table, output, force)
        else:
            with closing(reports.run_report(which, catalog, sections, **asked)) as rows:
                found = list(islice(rows, 1))
                _say_absent(which, opened, bool(found))
                shown = printing.lines(which, chain(found, rows), form, **asked)
                write_lines(shown, output, force)
    finish(opened.damage, opened.duplicates)


def _say_absent(which: Report, opened: Inputs, there: bool) -> None:
    """Say, if there is nothing to report, why that may be."""
    if there or nothing_selected(opened):
        return
    click.echo(f"smfparse: {which.absent()}", err=True)
    if not opened.selection.everything:
        click.echo(f"smfparse: looked at were only records with: {opened.selection}", err=True)


def _list(
    inputs: tuple[str, ...], form: str, output: Path | None, force: bool, reading: Reading
) -> None:
    """Write the reports; with inputs, whether these have data for them."""
    from smfparse.query import Catalog
    from smfparse.reports import listing

    if not inputs:
        write_lines(listing.lines(listing.reports_listed(), form), output, force)
        return
    opened = reading.open(inputs, output)
    with Catalog(opened) as catalog:
        write_lines(listing.lines(listing.reports_listed(catalog), form), output, force)
    finish(opened.damage, opened.duplicates)
