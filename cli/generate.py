"""smfparse generate: synthetic SMF data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from smfparse.cli.options import quiet_option, size_in_bytes
from smfparse.cli.output import Output, check_name, output_stream
from smfparse.cli.words import LocalPath
from smfparse.errors import RequestError
from smfparse.progress import PROGRESS
from smfparse.rendering.formats import FORMATS, TEXT
from smfparse.simulating.declaration import INCIDENTS, VERSIONS
from smfparse.simulating.reading_toml import minutes, offset, scenario_names

_OF_SCENARIO = ("scenario", "explain", "incidents", "days", "acctime", "format_")
_NOT_OF_SCENARIO = ("qmgrs", "system", "count", "size", "tasks", "queues", "dense")
_NAMES = {"qmgrs": "--qmgr", "incidents": "--incident", "format_": "--format"}
_FIRST_YEAR, _LAST_YEAR = 1970, 2041


def _interval(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> dt.timedelta | None:
    try:
        return None if text is None else minutes(text)
    except RequestError as error:
        raise click.BadParameter(f"{text!r} is not a length; write 30m, 60s or 1h") from error


def _offset(_context: click.Context, _option: click.Parameter, text: str) -> dt.timedelta:
    try:
        return offset(text)
    except RequestError as error:
        raise click.BadParameter(f"{text!r} is not an offset; write -04:00 or +05:30") from error


def _start(_context: click.Context, _option: click.Parameter, text: str) -> dt.datetime:
    try:
        start = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not a time; write 2026-03-04T09:00") from error
    if not _FIRST_YEAR <= start.year <= _LAST_YEAR:
        raise click.BadParameter(
            f"out of range; SMF and TOD clocks go from {_FIRST_YEAR} to {_LAST_YEAR}"
        )
    return start


def _scenarios() -> str:
    *names, last = scenario_names()
    return f"{', '.join(names)} or {last}"


@click.command("generate", short_help="Generate SMF data with known problems.")
@click.argument("output", type=LocalPath(dir_okay=False), required=False)
@click.option("--scenario", metavar="NAME",
              help=f"Generate a day of this scenario: {_scenarios()}; or of your own site, a"
              " file with the extension .toml.")  # fmt: skip
@click.option("--explain", is_flag=True,
              help="Print the problems of the scenario, with times, and the puts and gets by"
              " application; write no file.")  # fmt: skip
@click.option("--incident", "incidents", multiple=True, metavar="NAME@HH:MM/LENGTH",
              help="Add an incident to the scenario: log-slow@14:20/30m; may be repeated."
              f" NAME is {', '.join(INCIDENTS)}; NAME:TARGET sets the affected"
              " object.")  # fmt: skip
@click.option("--days", type=click.IntRange(1, 366),
              help="Generate this many days; default: days of the scenario.")  # fmt: skip
@click.option("--acctime", metavar="LENGTH", callback=_interval,
              help="Use this accounting interval, a multiple of the interval; default: ACCTIME of"
              " the scenario, or the interval.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(tuple(FORMATS)),
              help="Print the output of --explain in this format.")  # fmt: skip
@click.option("--qmgr", "qmgrs", multiple=True, default=("QM01",), show_default=True,
              help="Write records of this queue manager; may be repeated.")  # fmt: skip
@click.option(
    "--system", default="SYSA", show_default=True, help="Use this SMF id for the z/OS system."
)
@click.option("--start", default="2026-03-04T09:00", show_default=True, callback=_start,
              help="Start the first interval at this local time of the z/OS system.")  # fmt: skip
@click.option("--utc-offset", default="+00:00", show_default=True, callback=_offset,
              help="Use this UTC offset (local time of the z/OS system minus UTC).")  # fmt: skip
@click.option("--interval", default="30m", show_default=True, callback=_interval,
              help="Write intervals of this length: 60s, 30m, 1h.")  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=4, show_default=True,
              help="Write this many intervals.")  # fmt: skip
@click.option("--size", callback=size_in_bytes, metavar="SIZE",
              help="Write at least this many bytes (100MB, 1GB); not with --count.")  # fmt: skip
@click.option("--mq-version", "version", type=click.Choice(VERSIONS), default="9.3.0",
              show_default=True, help="Write the records of this version of MQ.")  # fmt: skip
@click.option("--tasks", type=click.IntRange(min=0), default=20, show_default=True,
              help="Write class 3 records of this many tasks per queue manager and"
              " interval.")  # fmt: skip
@click.option("--queues", type=click.IntRange(min=0), default=3, show_default=True,
              help="Use this many queues per task, on average. The maximum is 10 queues per"
              " task (before MQ 7.1: 44 or more), which fit into one record.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed the random numbers: the same seed gives the same file.")  # fmt: skip
@click.option("--dense", is_flag=True,
              help="Fill every counter, time and flag word with random values.")  # fmt: skip
@click.option("--output", "named", type=LocalPath(dir_okay=False), metavar="FILE",
              help="Write to FILE; the same as OUTPUT.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace OUTPUT if it exists.")
@quiet_option
@click.pass_context
def command(
    context: click.Context, /, output: Path | None, named: Path | None, force: bool, **asked: Any
) -> None:
    """Write OUTPUT, synthetic SMF data for testing, training and benchmarks.

    With --scenario, OUTPUT is the day of a simulated site: messages flow through queues, channels
    and applications, and all records count the same messages. --explain prints the problems of the
    day. Defaults of --start, --interval, --mq-version (8.0.0 or later) and --utc-offset are those
    of the scenario.

    Without --scenario, OUTPUT contains every supported record kind of the MQ version, except 116/2,
    with unrelated values. Records are spanned as in a downloaded dump data set, and the same
    options generate the same bytes. OUTPUT appears only when complete.

    With --dense, counters, times, flag words and tokens are random over their full width, and in
    30% of the class 3 blocks every latch and coupling facility request is filled. This is the worst
    case for the speed and memory of programs that read the file.

    \b
    Example:
      smfparse generate day.smf --scenario log-slow
      smfparse generate --scenario log-slow --explain
      smfparse generate test.smf --qmgr QM01 --qmgr QM02 --count 8
      smfparse generate big.smf --size 1GB --interval 1m --mq-version 10.0.0
    """
    if output is not None and named is not None:
        raise click.UsageError("OUTPUT and --output name the same file; give one of them.")
    output = output or named
    of_scenario = {name: asked.pop(name) for name in _OF_SCENARIO}
    given = {name for name in asked if _is_given(context, name)}
    if of_scenario["scenario"] is not None:
        chosen = {name: asked[name] for name in given}
        _simulate(output, force, chosen, asked["seed"], **of_scenario)
        return
    _refuse([name for name in of_scenario if _is_given(context, name)], "without --scenario")
    if output is None:
        raise click.UsageError("Missing argument 'OUTPUT'.")
    from smfparse.simulating.every_kind import generate

    check_name(output, "smf")
    with output_stream(output, force) as part, PROGRESS.of("writing", asked["size"] or 0):
        generate(part, **asked)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _refuse(names: Sequence[str], why: str) -> None:
    if names:
        option = _NAMES.get(names[0], f"--{names[0]}")
        raise click.UsageError(f"{option} cannot be used {why}.")


def _simulate(
    output: Path | None,
    force: bool,
    chosen: dict[str, Any],
    seed: int,
    *,
    scenario: str,
    explain: bool,
    incidents: Sequence[str],
    days: int | None,
    acctime: dt.timedelta | None,
    format_: str | None,
) -> None:
    """Write the SMF data of a scenario, or print its problems."""
    _refuse([name for name in _NOT_OF_SCENARIO if name in chosen], "with --scenario")
    if format_ is not None and not explain:
        raise click.UsageError("--format requires --explain.")
    if output is None and not explain:
        raise click.UsageError("Missing argument 'OUTPUT'.")
    from smfparse.simulating.reading_toml import load_estate
    from smfparse.simulating.run import AnswerKey, simulate

    chosen = {name: value for name, value in chosen.items() if name != "seed"}
    given = {"days": days, "acctime": acctime}
    chosen |= {name: value for name, value in given.items() if value is not None}
    estate = load_estate(scenario, incidents, **chosen)
    if explain:
        Output(format_ or TEXT, None, force).write(AnswerKey(estate, seed))
        return
    assert output is not None
    check_name(output, "smf")
    with output_stream(output, force) as part, PROGRESS.of("writing", 0):
        simulate(part, estate, seed)
