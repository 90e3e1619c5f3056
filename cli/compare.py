"""smfparse compare: the changes between two sets of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import Output, check_selection, finish, report_message, report_selection

if TYPE_CHECKING:
    from smfparse.advice.running import Checked
    from smfparse.inputs.opening import Inputs
    from smfparse.summarizing.sides import Side


@click.command(
    "compare", short_help="Compare the cost of calls before and after a change.", epilog=INPUT_HELP
)
@click.argument("inputs", metavar="BEFORE AFTER", nargs=-1, type=str)
@click.option(
    "--split-at",
    metavar="TIME",
    help="Split one or more INPUTs at TIME, local time of the system, and compare the part before "
    "TIME with the part after. Records count as with --from.",
)
@click.option(
    "--by",
    default="qmgr,job,queue,verb",
    show_default=True,
    metavar="NAMES",
    help="Group rows by one or more of qmgr, job, queue, verb.",
)
@click.option(
    "--rename",
    "renames",
    multiple=True,
    metavar="OLD=NEW",
    help="Match OLD in BEFORE with NEW in AFTER (queue managers, jobs, queues). 'LQ%=SQ%': % or * "
    "matches any characters, the same in both. NEW is used exactly as typed.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=6,
    show_default=True,
    metavar="PERCENT",
    help="Ignore changes of this size or less.",
)
@click.option(
    "--interval",
    metavar="LENGTH",
    help="Use intervals of this length: 15m, 1h (default: as recorded).",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Print at most this many non-significant rows of each kind.",
)
@click.option(
    "--side-by-side",
    is_flag=True,
    help="Print each job as in MP1B's TASK report, before and after in two columns.",
)
@click.option("--explain", is_flag=True, help="Print the formula of each metric; needs no INPUT.")
@reading_options("--until", "--to")
@output_options()
def command(
    inputs: tuple[str, ...],
    side_by_side: bool,
    explain: bool,
    output: Output,
    reading: Reading,
    **asked: Any,
) -> None:
    """Compare the cost of MQI calls in BEFORE and AFTER by queue manager, job, queue and verb.

    BEFORE and AFTER are each an INPUT. With --split-at, give one or more INPUTs, which are split.
    The output shows rates, cost per call and per commit, the log, buffer pools, channels and
    coupling facility structures side by side. A change is significant if it exceeds --tolerance and
    the normal variation between intervals. New, worse and cleared findings of check come first,
    then metrics by size of change, then the hours with the largest change. CSV and JSON contain all
    rows; other formats contain the significant rows and --top others.

    \b
    Example:
      smfparse compare monday.smf tuesday.smf
      smfparse compare week10.smf week11.smf --by job --format csv --output jobs.csv
      smfparse compare DUMP.smf --split-at 2026-03-04T12:01 --job 'PAY*'
      smfparse compare local.smf shared.smf --rename 'LQ%=SQ%' --side-by-side
    """
    if explain:
        from smfparse.summarizing.compare_printing import explain as explained

        output.check_text("--explain")
        output.write_lines(explained())
        return
    if side_by_side:
        output.check_text("--side-by-side")
    _compare(inputs, side_by_side, output, reading, **asked)


def _compare(
    inputs: tuple[str, ...],
    side_by_side: bool,
    output: Output,
    reading: Reading,
    *,
    split_at: str | None,
    by: str,
    renames: tuple[str, ...],
    tolerance: float,
    interval: str | None,
    top: int,
) -> None:
    """Write the changes; report absent data, duplicates and damage on stderr."""
    from smfparse.errors import DamageLog
    from smfparse.summarizing.changes import check_by, compared
    from smfparse.summarizing.compare_printing import ComparisonDocument
    from smfparse.summarizing.compare_printing import side_by_side as beside
    from smfparse.summarizing.sides import OF_QUEUES, Rename, absent, left_out, spanning

    found = [Rename.of(text) for text in renames]
    names = [name.strip().lower() for name in by.split(",")]
    check_by(names)
    opened, (before, after) = _sides(inputs, split_at, interval, output, reading)
    if not (before.calls and after.calls):
        for each in opened:
            check_selection(each)
        report_message(absent(before, after))
        report_selection(opened[0])
    if any(each.of_queues for each in opened):
        report_message(OF_QUEUES)
    if after.spanning:
        report_message(spanning(after))
    for message in left_out(before, after):
        report_message(message)
    if side_by_side:
        output.write_lines(beside(before, after, found))
    else:
        rows = compared(before, after, names, found, tolerance / 100)
        checked = _checked(opened, split_at)
        output.write(ComparisonDocument(rows, before, after, tolerance / 100, top, checked))
    damage = DamageLog()
    for each in opened:
        damage.extend(each.damage)
    finish(damage, sum(each.duplicates for each in opened))


def _checked(opened: Sequence[Inputs], split_at: str | None) -> Checked | None:
    """Return the findings of AFTER, compared with BEFORE; None: names are selected."""
    from smfparse.advice.policy import compared_with
    from smfparse.advice.running import run_rules
    from smfparse.decoding.criteria import parse_moment
    from smfparse.inputs.opening import with_times
    from smfparse.query.catalog import Catalog

    if opened[0].selection.by_name:
        return None
    sides = [*opened]
    if split_at is not None:
        at = parse_moment("split_at", split_at)
        sides = [with_times(opened[0], None, at), with_times(opened[0], at, None)]
    found = []
    for each in sides:
        with Catalog(each) as catalog:
            found.append(run_rules(catalog))
    return compared_with(found[1], found[0])


def _sides(
    inputs: tuple[str, ...],
    split_at: str | None,
    interval: str | None,
    output: Output,
    reading: Reading,
) -> tuple[list[Inputs], list[Side]]:
    """Return the opened inputs, and the sums of both sides."""
    from smfparse.decoding.criteria import parse_moment
    from smfparse.reports.sections import every
    from smfparse.summarizing.sides import measured, measured_apart

    seconds = every(interval).seconds if interval else None
    if split_at is not None:
        if not inputs:
            raise click.UsageError("Missing argument 'INPUT...'.")
        at = parse_moment("split_at", split_at)
        opened = [reading.open(inputs, output.path)]
        return opened, measured_apart(opened[0], at, seconds)
    if len(inputs) != 2:
        raise click.UsageError(
            "Give two inputs, BEFORE and AFTER; or split inputs with --split-at TIME."
        )
    opened = [reading.open([each], output.path) for each in inputs]
    return opened, [measured(each, seconds) for each in opened]
