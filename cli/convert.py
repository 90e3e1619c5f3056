"""smfparse convert: write a Parquet archive, or files for other tools."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smfparse.cli.options import INPUT_HELP, Reading, inputs_argument, reading_options
from smfparse.cli.output import check_selection, finish, format_of_name, report_message
from smfparse.mqsmfcsv.styles import STYLES
from smfparse.reading.places import Place, is_url, place_of
from smfparse.rendering.figures import plural
from smfparse.writing.formats import FILE_FORMATS, is_lake

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from smfparse.inputs.opening import Inputs

DATASET, DUCKDB = "dataset", "duckdb"
TARGET_FORMATS = (DATASET, *FILE_FORMATS, DUCKDB, *STYLES)
NOTES = """\
DuckDB reads DIR without smfparse: cd DIR && duckdb -init views.sql

A database shows times in the zone of the workstation; SET TimeZone = 'UTC' changes that.

"""


def _target(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> str:
    if len(texts) > 1:
        raise click.BadParameter("given twice; use --until for the end of the time range")
    try:
        texts[0].encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("the name is not UTF-8; choose another") from error
    return texts[0]


def _format_of(target: Place) -> str:
    return DUCKDB if target.suffix.lower() == f".{DUCKDB}" else DATASET


def _check_name(target: Place, chosen: str) -> None:
    """Raise UsageError if the extension of the target does not fit the format `chosen`."""
    implied = format_of_name(target)
    if implied in (None, chosen):
        return
    way_out = "use another name"
    if implied == DUCKDB:
        way_out = f"use --format {DUCKDB} for a database, or another name"
    elif implied in FILE_FORMATS:
        way_out = f"--format {implied} --to DIR writes one file per table into DIR"
    written = "a database" if chosen == DUCKDB else f"a folder ({chosen})"
    raise click.UsageError(f"{target}: output is {written}, but the name says {implied}; {way_out}")


def _executor(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> Callable[[], Executor] | None:
    """Return the function that a text MODULE:CALLABLE names."""
    if text is None:
        return None
    module, _, name = text.partition(":")
    try:
        found: Callable[[], Executor] = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise click.BadParameter(
            f"{text!r} is not a function of a module that Python finds: {error}; give "
            "MODULE:CALLABLE, and set PYTHONPATH to the folder of the module"
        ) from error
    return found


def _names(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    found = (name.strip().lower() for text in texts for name in text.split(","))
    return tuple(dict.fromkeys(name for name in found if name))


@click.command(
    "convert", short_help="Write all tables as Parquet or other files.", epilog=NOTES + INPUT_HELP
)
@inputs_argument
@click.option(
    "--to",
    "--output",
    "target",
    required=True,
    multiple=True,
    type=click.Path(),
    callback=_target,
    metavar="DIR",
    help="Write to this folder or new URL (s3://BUCKET/DIR), or to a DuckDB database, FILE.duckdb. "
    "The extension must match --format. With iceberg:CATALOG.NAMESPACE, delta:DIR or "
    "delta:s3://BUCKET/DIR, register the files of an archive with signed types as Iceberg or Delta "
    "tables; tables in object storage get copies (docs/dataset.md).",
)
@click.option(
    "--format",
    type=click.Choice(TARGET_FORMATS),
    show_default=f"{DATASET}; {DUCKDB} for FILE.duckdb",
    help="Write a Parquet archive (dataset): a folder of Parquet files per table, views.sql and "
    "smfparse.db; or one file per table; or a DuckDB database; or the files of mq-smf-csv -f CSV "
    "or -f SQL, with their Db2 DDL (MQTABLES.ddl).",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    callback=_names,
    metavar="NAMES",
    help="Write, or register, only these tables: wtas,wqst. Not for an archive, which contains "
    "all.",
)
@click.option(
    "--columns",
    multiple=True,
    callback=_names,
    metavar="NAMES",
    help="Write only these columns; tables without any of them are skipped. Not for an archive.",
)
@click.option(
    "--append",
    is_flag=True,
    help="Add the inputs to the archive in DIR; create it if it does not exist. Waits up to one "
    "hour if another command is writing to DIR.",
)
@click.option(
    "--partition",
    is_flag=True,
    help="Divide the rows of an archive by day; tables of records, tasks, queues and channels also "
    "by queue manager: date=2026-03-04/queue_manager=QM01/.",
)
@click.option(
    "--types",
    "number_types",
    type=click.Choice(["exact", "signed"]),
    help="Write the numbers of an archive with these types: exact (including unsigned), or signed, "
    "for Iceberg, Delta, Trino and Spark: int for 8 and 16 bits, bigint for 32, decimal(20,0) for "
    "64. Default: exact; with --append, the types of the archive.",
)
@click.option(
    "--fingerprints",
    is_flag=True,
    help="Add the columns fingerprint and dump_start to the table record of an archive; with "
    "them, a query finds duplicates in separate archives (docs/dataset.md).",
)
@click.option("--force", is_flag=True, help="Replace the content of DIR, or FILE.")
@click.option(
    "--executor",
    callback=_executor,
    metavar="MODULE:CALLABLE",
    help="Decode and write an archive with the concurrent.futures.Executor of this Python "
    "function, for example of Spark. All machines must see inputs and DIR under the "
    "same paths (docs/dataset.md). --jobs is then the minimum number of parts of large files.",
)
@reading_options("--until")
def command(
    inputs: tuple[str, ...],
    target: str,
    format: str | None,  # noqa: A002 - click uses this name
    reading: Reading,
    **asked: Any,
) -> None:
    """Write every table of the inputs as a Parquet archive, or as files for other tools.

    Every table is written, even without rows. smfparse.db is written after the rows, and records
    the selection: if it is missing, the run was killed; run the same command again. The table
    damage lists the damaged bytes.

    With --append, inputs and records that are already in the archive are skipped. SMF dumps can
    overlap, and a killed command can be run again.

    \b
    Example:
      smfparse convert DUMP.smf --to mqdata
      smfparse report log mqdata
      smfparse convert TODAY.smf --to mqdata --append
      smfparse convert DUMP.smf --qmgr QM01 --from 0800 --until 1800 --to office
      smfparse convert DUMP.smf --to queues --format csv --table wqst --columns qmgr,basename,putn
      smfparse convert DUMP.smf --to dump.duckdb
      smfparse convert DUMP.smf --to events --format ndjson
      smfparse convert DUMP.smf --to sheets --format mq-smf-csv
      smfparse convert mqdata --to iceberg:lake.db.mq
      smfparse convert mqdata --to delta:s3://mq-smf/lake
    """
    if is_lake(target):
        _commit(inputs, target, format, reading, **asked)
        return
    place = place_of(target)
    chosen = format or _format_of(place)
    if not (asked["append"] and place.is_dir()):  # an existing dataset can have any name
        _check_name(place, chosen)
    _check(target, chosen, reading, **asked)
    opened = reading.open(inputs, place).as_recorded()
    check_selection(opened)
    _write(opened, place, chosen, **asked)
    finish(opened.damage, opened.duplicates)


def _commit(
    inputs: tuple[str, ...],
    target: str,
    chosen: str | None,
    reading: Reading,
    *,
    tables: tuple[str, ...],
    **others: Any,
) -> None:
    """Commit the files of a dataset to tables of Iceberg or Delta; print the numbers of files."""
    from smfparse.writing.lakes import Change, commit_dataset

    options = reading.options
    asked = any(others.values()) or options.fingerprints or not options.selection.everything
    if chosen or asked:
        raise click.UsageError(
            f"{target} uses the files of a dataset unchanged; leave out all options except --table"
        )
    if len(inputs) != 1:
        raise click.UsageError(f"{target} takes the files of one dataset; give its folder")
    done = commit_dataset(place_of(inputs[0]), target, tables)
    whole = sum(done.values(), Change(0, 0, 0))
    report_message(
        f"{target}: {whole.added:,} files added to {plural(len(done), 'table')}, "
        f"{whole.removed:,} removed, {whole.stayed:,} unchanged"
    )


def _check(
    target: str,
    chosen: str,
    reading: Reading,
    *,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
    append: bool,
    partition: bool,
    number_types: str | None,
    force: bool,
    executor: Callable[[], Executor] | None,
) -> None:
    from smfparse.decoding.criteria import is_time

    if chosen == DATASET and (tables or columns):
        raise click.UsageError(
            "a dataset contains all tables and columns; choose another format with --format"
        )
    if chosen != DATASET and (append or partition or number_types or executor):
        raise click.UsageError("--append, --partition, --types and --executor are for a dataset")
    if chosen != DATASET and reading.options.fingerprints:
        raise click.UsageError(
            "--fingerprints is for a dataset; name the columns: --columns "
            "source,record_no,fingerprint,dump_start"
        )
    if chosen in STYLES and columns:
        raise click.UsageError("the columns of mq-smf-csv are fixed; leave --columns out")
    if chosen != DATASET and is_url(target):
        raise click.UsageError(
            "only a dataset is written to a URL; write other formats to this machine"
        )
    if append and force:
        raise click.UsageError(
            "--append adds to the dataset, --force replaces it: give one of them"
        )
    if not reading.selection.everything and is_time(target):
        raise click.UsageError(
            f"--to names the folder, but {target} looks like a time; use --until for the end of "
            f"the time range, or ./{target} for a folder of that name"
        )


def _write(
    opened: Inputs,
    place: Place,
    chosen: str,
    *,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
    append: bool,
    partition: bool,
    number_types: str | None,
    force: bool,
    executor: Callable[[], Executor] | None,
) -> None:
    if chosen != DATASET:
        _files(opened, Path(str(place)), chosen, force, tables, columns)
        return
    from smfparse.writing.dataset import write_dataset

    with executor() if executor else nullcontext() as workers:
        how: dict[str, Any] = {"partition": partition, "executor": workers}
        if append:
            _append(opened, place, types=number_types, **how)
        else:
            types = number_types or "exact"
            manifest = write_dataset(opened, place, force=force, types=types, **how)
            _report_rows(place, manifest["tables"])


def _append(opened: Inputs, folder: Place, **how: Any) -> None:
    """Add inputs to a dataset, and print the skipped and the renamed inputs."""
    from smfparse.writing.append import append_dataset

    done = append_dataset(opened, folder, **how)
    for name in done.known:
        report_message(f"{name}: already in the dataset; skipped")
    for name, called in done.renamed:
        report_message(f"{name}: another input has this name; renamed to {called}")
    _report_rows(folder, done.rows, " added")


def _files(
    opened: Inputs,
    path: Path,
    chosen: str,
    force: bool,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
) -> None:
    if chosen in STYLES:
        from smfparse.mqsmfcsv.files import write_sheets

        written = write_sheets(opened, path, chosen, tables, force=force)
    else:
        from smfparse.decoding.arrow import chosen as chosen_columns

        wanted = chosen_columns(tables, columns)
        if chosen == DUCKDB:
            from smfparse.writing.database import write_database

            written = write_database(opened, path, wanted, force=force)
        else:
            from smfparse.writing.writers import write_files

            written = write_files(opened, path, chosen, wanted, force=force)
    _report_rows(path, written)


def _report_rows(path: Place, tables: dict[str, int], more: str = "") -> None:
    filled = [rows for rows in tables.values() if rows]
    rows = "1 row" if sum(filled) == 1 else f"{sum(filled):,} rows"
    report_message(f"{path}: {rows}{more} in {plural(len(filled), 'table')}")
