"""smfparse generate: valid SMF records to try things on."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import click

from smfparse.cli.options import size_in_bytes
from smfparse.cli.output import check_name, output_stream
from smfparse.synthetic import VERSIONS

_FIRST_YEAR, _LAST_YEAR = 1970, 2041
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def _interval(_context: click.Context, _option: click.Parameter, text: str) -> dt.timedelta:
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not a length; write 30m, 60s or 1h")
    return dt.timedelta(seconds=int(found[1]) * _SECONDS[found[2]])


def _offset(_context: click.Context, _option: click.Parameter, text: str) -> dt.timedelta:
    found = re.fullmatch(r"([+-])(\d\d):(\d\d)", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not an offset; write -04:00 or +05:30")
    offset = dt.timedelta(hours=int(found[2]), minutes=int(found[3]))
    return -offset if found[1] == "-" else offset


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


@click.command("generate")
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--qmgr", "qmgrs", multiple=True, default=("QM01",), show_default=True,
              help="Write records of this queue manager; may be repeated.")  # fmt: skip
@click.option(
    "--system", default="SYSA", show_default=True, help="Set the SMF id of the z/OS system."
)
@click.option("--start", default="2026-03-04T09:00", show_default=True, callback=_start,
              help="Start the first interval at this local time of the z/OS system.")  # fmt: skip
@click.option("--utc-offset", default="+00:00", show_default=True, callback=_offset,
              help="Set the local time of the z/OS system minus UTC.")  # fmt: skip
@click.option("--interval", default="30m", show_default=True, callback=_interval,
              help="Set the length of an interval: 60s, 30m, 1h.")  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), default=4, show_default=True,
              help="Write this many intervals.")  # fmt: skip
@click.option("--size", callback=size_in_bytes, metavar="SIZE",
              help="Write intervals up to SIZE (100MB, 1GB) instead of --count.")  # fmt: skip
@click.option("--mq-version", "version", type=click.Choice(VERSIONS), default="9.3.0",
              show_default=True, help="Write the records of this version of MQ.")  # fmt: skip
@click.option("--tasks", type=click.IntRange(min=0), default=20, show_default=True,
              help="Write class 3 records of this many tasks per queue manager and"
              " interval.")  # fmt: skip
@click.option("--queues", type=click.IntRange(min=0), default=3, show_default=True,
              help="Set the queues per task, on average. One record limits them to 10 per task (44"
              " or more before MQ 7.1).")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed the random numbers: the same seed gives the same file.")  # fmt: skip
@click.option("--dense", is_flag=True,
              help="Fill every counter, time and flag word with random values.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace OUTPUT if it exists.")
def command(output: Path, force: bool, **asked: Any) -> None:
    """Write OUTPUT, an SMF dump that no z/OS system made: to test, try out and time things.

    It holds every kind of record that smfparse knows and the MQ version writes, but no 116/2,
    spanned as in a download of a dump data set. Names and figures are made up; the same options
    give the same bytes. The file is there when it is complete, or not at all.

    With --dense the contents are random: counters, times, flag words and tokens are
    random in full width, and in 30 % of the class 3 blocks every latch and coupling facility
    request is filled. It is the worst case for the speed and memory of programs that read the file.

    \b
    Example:
      smfparse generate test.smf --qmgr QM01 --qmgr QM02 --count 8
      smfparse generate big.smf --size 1GB --interval 1m --mq-version 10.0.0
    """
    from smfparse.synthetic import generate

    check_name(output, "smf")
    with output_stream(output, force) as part:
        generate(part, **asked)
