"""smfparse capacity: a subcommand for each planner, made from the inputs of the planner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click

from smfparse.cli.options import INPUT_HELP, Reading, output_options, reading_options
from smfparse.cli.output import Output, check_selection, finish
from smfparse.planning.plans import Planner, Wanted, option, planner, planner_names, said, wanted

_HELP = """\
{title}.

With INPUT, values are measured in the SMF data of each queue manager. For other values, and
without INPUT, IBM's published values are used. Options override both. The output lists formulas,
sources, valid range and limitations.

\b
Example:
  smfparse capacity {name}
  smfparse capacity {name} DUMP.smf --qmgr QM01
  smfparse capacity {name} --explain
"""

_KB = {"KB": 1, "MB": 1024, "GB": 1024**2}
"""Units of sizes, in KB."""


def _number(
    each: Wanted, _context: click.Context, _option: click.Parameter, text: str | None
) -> int | float | None:
    """Return the number in a text with or without unit: 92, 92us; for sizes, any unit of _KB."""
    if text is None:
        return None
    unit = each.ask.unit
    try:
        other = next((size for size in _KB if unit in _KB and text.endswith(size)), unit)
        number: int | float = each.kind(text.removesuffix(other).strip())
        if other != unit:
            number = number * _KB[other] / _KB[unit]
    except ValueError as error:
        words = "a whole number" if each.kind is int else "a number"
        of = f", with or without {unit}" if unit else ""
        raise click.BadParameter(f"{text!r} is not {words}{of}") from error
    return number


def _option(each: Wanted) -> click.Option:
    """Return the option of an input. Bounds are checked by the planner, also for Python users."""
    ask = each.ask
    return click.Option(
        [option(each.name), f"plan_{each.name}"],
        type=click.Choice(ask.among) if ask.among else str,
        callback=None if ask.among else partial(_number, each),
        metavar=None if ask.among else _metavar(each),
        help=f"{ask.text}{_values(each)}{_default(each)}.",
    )


def _metavar(each: Wanted) -> str:
    """Return the unit of an input in capitals, or the kind of its value."""
    return each.ask.unit.upper().split(" ")[0] or ("NAMES" if each.kind is str else "NUMBER")


def _values(each: Wanted) -> str:
    """Return a colon and the accepted numbers; '' if all numbers from 0, or texts, are accepted."""
    ask = each.ask
    is_free = ask.among or each.kind is str or (ask.low, ask.high) == (0, math.inf)
    return "" if is_free else f": {ask.bounds}"


def _default(each: Wanted) -> str:
    numeric = each.kind in (int, float) and each.default is not None
    published = said(each.default) if numeric else each.default
    words = ", or ".join(filter(None, ("measured" * bool(each.ask.measured), published)))
    return f" (default: {words})" if words else ""


def _run(
    which: Planner,
    inputs: Sequence[str],
    output: Output,
    reading: Reading,
    explain: bool,
    given: Mapping[str, Any],
) -> None:
    """Print the answers of a planner, then notes about damage and duplicates of its inputs."""
    from smfparse.planning.answering import answers, measuring_sql
    from smfparse.planning.printing import CapacityDocument, explained

    if explain:
        output.check_text("--explain")
        output.write_lines(explained(which, measuring_sql(which.name)))
        return
    if not inputs:
        output.write(CapacityDocument(which, answers(which, given)))
        return
    from smfparse.query.catalog import Catalog

    opened = reading.open(inputs, output.path)
    with Catalog(opened) as catalog:
        found = answers(which, given, catalog)
    if not any(each.of and each.of.values for each in found):
        check_selection(opened, f"that {which.name} measures ")
    output.write(CapacityDocument(which, found))
    finish(opened.damage, opened.duplicates)


def _command(which: Planner) -> click.Command:

    @reading_options("--until", "--to")
    @output_options()
    def run(
        inputs: tuple[str, ...], output: Output, reading: Reading, explain: bool, **options: Any
    ) -> None:
        given = {
            name.removeprefix("plan_"): value
            for name, value in options.items()
            if name.startswith("plan_") and value is not None
        }
        _run(which, inputs, output, reading, explain, given)

    run.__doc__ = _HELP.format(title=which.title, name=which.name)
    made = click.command(which.name, epilog=INPUT_HELP)(run)
    explaining = click.Option(
        ["--explain"],
        is_flag=True,
        help="Print inputs, measured fields, sources and limitations; needs no INPUT.",
    )
    own = [*map(_option, wanted(which.asked)), explaining]
    made.params[:0] = [click.Argument(["inputs"], metavar="[INPUT]...", nargs=-1), *own]
    made.short_help = which.title
    return made


class _Planners(Mapping[str, click.Command]):
    """The subcommands, each created when it is used."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in planner_names():
            raise KeyError(name)
        return _command(planner(name))

    def __iter__(self) -> Iterator[str]:
        return iter(planner_names())

    def __len__(self) -> int:
        return len(planner_names())


class _Group(click.Group):
    """A group with one subcommand per planner."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Planners()  # type: ignore[assignment] # none is added


@click.group("capacity", cls=_Group, short_help="Run a capacity planning calculation.")
def command() -> None:
    """Run a capacity planning calculation: values, formulas, sources and limitations.

    \b
    Example:
      smfparse capacity channels                        IBM's example: 4,643 channels
      smfparse capacity log DUMP.smf --log-io-time 92us
      smfparse capacity log DUMP.smf --log-size 4GB --logs 6
      smfparse capacity streaming DUMP.smf --share 50
      smfparse capacity cpu --explain
    """
