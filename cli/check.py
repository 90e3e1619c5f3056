"""smfparse check: findings with their time, cause, evidence and recommended action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from smfparse.cli.output import Output, check_selection, finish

if TYPE_CHECKING:
    from smfparse.advice.findings import Finding
    from smfparse.advice.policy import Policy
    from smfparse.advice.running import Checked
    from smfparse.inputs.opening import Inputs

EXIT_FOUND = 3
JUNIT = "junit"
_ALL = "*"


@click.command("check", short_help="List findings with recommended actions.", epilog=INPUT_HELP)
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=str, shell_complete=completed_files)
@click.option(
    "--limit",
    "changed",
    multiple=True,
    metavar="RULE=VALUE",
    help="Replace the limit of a rule: LOG-RESPONSE=1200, or one of several: LOG-BUSY.pages=90.",
)
@click.option(
    "--policy",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Read the limits, minimum runs, objects and silenced rules of the site from FILE (TOML).",
)
@click.option(
    "--only",
    multiple=True,
    metavar="RULES",
    help="Show only findings of these rules or diagnoses: D2, 'LOG-*'.",
)
@click.option(
    "--fail-on",
    multiple=True,
    metavar="SEVERITY|RULES",
    help="End with exit code 3 for a finding of this severity (1 to 5) or a more serious one, "
    "or of these rules or diagnoses: LOG-RESPONSE, 'Q-*'; may be repeated.",
)
@click.option(
    "--since-baseline",
    "baseline",
    metavar="OLD",
    help="Compare with the findings in OLD, an earlier input: mark new and worse findings, list "
    "cleared ones.",
)
@click.option("--all", "at_length", is_flag=True, help="Print full details of every finding.")
@click.option("--metrics", is_flag=True, help="Print metrics for Prometheus instead.")
@click.option(
    "--explain",
    is_flag=False,
    flag_value=_ALL,
    metavar="[RULE]",
    help="Print the rules, or RULE: condition, limits, sources and action; needs no INPUT.",
)
@reading_options("--until", "--to")
@output_options(JUNIT)
def command(
    inputs: tuple[str, ...],
    metrics: bool,
    explain: str | None,
    output: Output,
    reading: Reading,
    **asked: Any,
) -> None:
    """Check INPUT against the built-in rules and list findings, most severe first.

    Severity: 1 loss or outage near, 2 constraint, 3 waste, 4 information, 5 data quality. A finding
    covers all intervals in which its condition is true. A diagnosis contains the findings that it
    explains. The first interval after a start of the trace or a restart is excluded.

    \b
    Example:
      smfparse check DUMP.smf
      smfparse check DUMP.smf --limit LOG-RESPONSE=1200 --fail-on 2
      smfparse check DUMP.smf --fail-on 1 --fail-on 'Q-*,LOG-RESPONSE'
      smfparse check today.smf --since-baseline yesterday.smf --format html --output check.html
      smfparse check --explain LOG-BUSY
    """
    from smfparse.advice.wording import explain_lines

    if explain is not None:
        output.check_text("--explain")
        output.write_lines(explain_lines("" if explain == _ALL else explain))
        return
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    if metrics:
        output.check_text("--metrics")
    _check(inputs, metrics, output, reading, **asked)


def _check(
    inputs: tuple[str, ...],
    metrics: bool,
    output: Output,
    reading: Reading,
    *,
    changed: tuple[str, ...],
    policy: Path | None,
    only: tuple[str, ...],
    fail_on: tuple[str, ...],
    baseline: str | None,
    at_length: bool,
) -> None:
    """Write the findings; report absent data, duplicates and damage on stderr."""
    from smfparse.advice.commands import Commands
    from smfparse.advice.policy import compared_with, parsed_limits, site_policy
    from smfparse.advice.printing import CheckDocument, junit_lines, metric_lines
    from smfparse.advice.wording import chosen_ids

    site = site_policy(policy, parsed_limits(changed))
    patterns = chosen_ids(only)
    is_failing = _failing(fail_on)
    opened = reading.open(inputs, output.path)
    checked = _checked(opened, site, patterns)
    if baseline is not None:
        earlier = _checked(reading.open([baseline], output.path), site, patterns)
        checked = compared_with(checked, earlier)
    if metrics:
        output.write_lines(metric_lines(checked))
    elif output.format == JUNIT:
        output.write_lines(junit_lines(checked))
    else:
        output.write(CheckDocument(checked, Commands(inputs, reading.options), at_length=at_length))
    failing = any(map(is_failing, checked.findings))
    finish(opened.damage, opened.duplicates, code=EXIT_FOUND if failing else 0)


def _failing(fail_on: Iterable[str]) -> Callable[[Finding], bool]:
    """Return a function: whether a finding causes EXIT_FOUND, by its severity or by a named rule.

    The rules of the findings that it explains count too.

    Raises RequestError for an unknown rule or severity.
    """
    from smfparse.advice.declaration import SEVERITIES
    from smfparse.advice.wording import chosen_ids
    from smfparse.errors import RequestError

    parts = [part.strip() for text in fail_on for part in text.split(",")]
    severities = [int(each) for each in parts if each.isdecimal()]
    for each in severities:
        if each not in SEVERITIES:
            raise RequestError(f"fail_on={each}: severity is 1 to 5", "fail_on")
    mildest = max(severities, default=0)
    named = chosen_ids([each for each in parts if not each.isdecimal()], "fail_on")

    def is_failing(finding: Finding) -> bool:
        return finding.severity <= mildest or any(each.rule in named for each in finding.whole())

    return is_failing


def _checked(opened: Inputs, policy: Policy, only: frozenset[str]) -> Checked:
    """Return the findings of the rules. Raises InputError if no record is selected."""
    from smfparse.advice.running import run_rules
    from smfparse.query.catalog import Catalog

    with Catalog(opened) as catalog:
        checked = run_rules(catalog, policy, only)
    if not checked.managers:
        check_selection(opened)
    return checked
