"""smfparse compare: what changed from one set of records to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import finish, nothing_selected, write_lines

if TYPE_CHECKING:
    from smfparse.comparing import Side
    from smfparse.inputs.opening import Inputs


@click.command("compare", epilog=INPUT_HELP)
@click.argument("inputs", metavar="BEFORE AFTER", nargs=-1, type=str)
@click.option(
    "--split-at",
    metavar="TIME",
    help="Compare what of one or more INPUTs was before TIME, local time of the system, with what "
    "was later. Of an interval its middle counts.",
)
@click.option(
    "--by",
    default="qmgr,job,queue,verb",
    show_default=True,
    metavar="NAMES",
    help="What rows are told apart by: some of qmgr, job, queue, verb.",
)
@click.option(
    "--rename",
    "renames",
    multiple=True,
    metavar="OLD=NEW",
    help="What is called OLD before is NEW after: queue managers, jobs, queues. 'LQ%=SQ%': % or * "
    "stands for any characters, the same in both. NEW is in its own case.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=6,
    show_default=True,
    metavar="PERCENT",
    help="A change of so much or less is none.",
)
@click.option(
    "--interval", metavar="LENGTH", help="Length of intervals, 15m, 1h, if not as recorded."
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Lines of text of what is not significant.",
)
@click.option(
    "--side-by-side",
    is_flag=True,
    help="Text like MP1B's TASK report, a job after the other, before and after in two columns.",
)
@click.option("--explain", is_flag=True, help="Say how each figure comes about; no input needed.")
@reading_options("--to", "--until")
@output_options("text", "csv", "json")
def command(
    inputs: tuple[str, ...],
    split_at: str | None,
    by: str,
    renames: tuple[str, ...],
    tolerance: float,
    interval: str | None,
    top: int,
    side_by_side: bool,
    explain: bool,
    form: str,
    output: Path | None,
    force: bool,
    reading: Reading,
) -> None:
    """Say what calls cost BEFORE and AFTER, by queue manager, job, queue and verb.

    BEFORE and AFTER are each an INPUT; with --split-at there may be any number of INPUTs, which are
    cut in two. Rates, costs a call and a commit, the log, buffer pools and coupling facility
    structures of both stand side by side. A change is significant if it is greater than --tolerance
    and than chance explains, as figures vary from one interval to the next; what changes the CPU
    time most comes first. CSV and JSON have all rows, text the significant ones and --top others.

    \b
    Example:
      smfparse compare monday.smf tuesday.smf
      smfparse compare week10.smf week11.smf --by job --format csv --output jobs.csv
      smfparse compare DUMP.smf --split-at 2026-03-04T12:00 --job 'PAY*'
      smfparse compare local.smf shared.smf --rename 'LQ%=SQ%' --side-by-side
    """
    from smfparse import comparing
    from smfparse.comparing import printing as contrast
    from smfparse.errors import DamageLog

    if explain:
        write_lines(contrast.explain(), output, force)
        return
    if side_by_side and form != "text":
        raise click.UsageError("--side-by-side is text; CSV and JSON have one row a figure.")
    found = [comparing.Rename.of(text) for text in renames]
    names = [name.strip().lower() for name in by.split(",")]
    comparing.check_by(names)
    opened, (before, after) = _sides(inputs, split_at, interval, output, reading)
    if not (before.calls and after.calls) and not any(map(nothing_selected, opened)):
        click.echo(f"smfparse: {comparing.absent(before, after)}", err=True)
        if not reading.selection.everything:
            click.echo(f"smfparse: looked at were only records with: {reading.selection}", err=True)
    if side_by_side:
        write_lines(contrast.side_by_side(before, after, found), output, force)
    else:
        rows = comparing.compared(before, after, names, found, tolerance / 100)
        write_lines(contrast.lines(rows, before, after, form, tolerance / 100, top), output, force)
    damage = DamageLog()
    for each in opened:
        damage.extend(each.damage)
    finish(damage, sum(each.duplicates for each in opened))


def _sides(
    inputs: tuple[str, ...],
    split_at: str | None,
    interval: str | None,
    output: Path | None,
    reading: Reading,
) -> tuple[list[Inputs], tuple[Side, Side]]:
    """Open the inputs and sum up both sides."""
    from smfparse.comparing import Split, measured
    from smfparse.reports import every
    from smfparse.selecting import parse_moment

    seconds = every(interval).seconds if interval else None
    if split_at is not None:
        if not inputs:
            raise click.UsageError("Missing argument 'INPUT...'.")
        at = parse_moment("split_at", split_at)
        opened = [reading.open(inputs, output)]
        first, second = (measured(opened[0], Split(at, later), seconds) for later in (False, True))
        return opened, (first, second)
    if len(inputs) != 2:
        raise click.UsageError(
            "Two inputs are compared, BEFORE and AFTER; or cut some by --split-at TIME."
        )
    opened = [reading.open([each], output) for each in inputs]
    return opened, (measured(opened[0], None, seconds), measured(opened[1], None, seconds))
