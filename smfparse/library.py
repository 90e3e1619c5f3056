"""The Python interface of the package: open SMF files and datasets, and comparisons of them.

data = smfparse.open("DUMP.smf")
data.arrow("wtas")
data.report("api-cost", by="job")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args

import polars as pl
import pyarrow as pa

from smfparse.advice.commands import ANY_INPUT, Commands
from smfparse.advice.findings import Finding
from smfparse.advice.running import Checked, run_rules
from smfparse.decoding.arrow import plain_schema, wanted_columns, wanted_tables, whole_schema
from smfparse.decoding.criteria import texts
from smfparse.decoding.dictionary import table_names
from smfparse.decoding.selection import ALL_RECORDS, Selection
from smfparse.errors import Damage, RequestError, install_command
from smfparse.inputs.named import check_apart
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import Options, ReadOptions
from smfparse.inspecting.inventory import Group, inventory
from smfparse.inspecting.printing import InventoryDocument
from smfparse.limits import LIMITS
from smfparse.planning.plans import planner
from smfparse.query.catalog import Catalog
from smfparse.query.lazy import lazy_frame
from smfparse.query.relations import Connection
from smfparse.reading.places import Url, place_of
from smfparse.rendering.figures import visible
from smfparse.rendering.html import Shown, notebook_html
from smfparse.reports.sections import TOTAL, Sections, every
from smfparse.summarizing.changes import NAMES, TOLERANCE, compared
from smfparse.writing.append import append_dataset
from smfparse.writing.compacting import Compacted, compact_dataset
from smfparse.writing.dataset import write_dataset
from smfparse.writing.lakes import Change, commit_dataset

if TYPE_CHECKING:
    from smfparse.planning.answering import Answer

Frame: TypeAlias = Literal["arrow", "polars", "pandas"]
"""The type of returned rows: pyarrow.Table, polars.DataFrame or pandas.DataFrame."""


@dataclass(frozen=True, repr=False)
class Findings(Checked):
    """The findings of all rules, the most serious first; notebooks show the output of `check`.

    commands  makes the commands that show the evidence
    """

    commands: Commands = ANY_INPUT

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def _repr_html_(self) -> str:
        from smfparse.advice.printing import CheckDocument

        return notebook_html(CheckDocument(self, self.commands))


class _Tables:
    """The rows of open inputs, by table or by query."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def __repr__(self) -> str:
        names = ", ".join(_names(self.inputs))
        return f"<SMF data of {visible(names)}>"

    def _repr_html_(self) -> str:
        return notebook_html(InventoryDocument(self.inputs, inventory(self.inputs)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables: one per control block, and `record` and `damage`."""
        return tuple(table_names())

    @property
    def damage(self) -> Sequence[Damage]:
        """The damage found so far in the inputs."""
        return tuple(self.inputs.met.details)

    def info(self) -> list[Group]:
        """Count records and bytes by system, queue manager, MQ version, type and subtype."""
        return inventory(self.inputs).groups

    def batches(
        self, table: str, columns: str | Iterable[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table as pyarrow.RecordBatches, in the order of the inputs.

        columns  the columns to decode; None: all columns
        """
        plain = self._schema(table, columns)
        for _, batch in self.inputs.batches({table.lower(): frozenset(plain.names)}):
            chosen = batch.select(plain.names)
            yield chosen.cast(plain) if plain.names else chosen  # a cast loses the row count

    def arrow(self, table: str, columns: str | Iterable[str] | None = None) -> pa.Table:
        """Return the rows of a table as a pyarrow.Table; columns as in `batches`."""
        plain = self._schema(table, columns)
        return pa.Table.from_batches(self.batches(table, plain.names), plain)

    def _schema(self, table: str, columns: str | Iterable[str] | None) -> pa.Schema:
        """Return the schema of `columns` (None: all columns), in the order of `columns`."""
        (known,) = wanted_tables([table])
        if columns is None:
            return plain_schema(known, self.inputs.names(known))
        return pa.schema(map(whole_schema(known).field, wanted_columns(known, texts(columns))))

    def polars(self, table: str) -> pl.LazyFrame:
        """Return the rows of a table as a polars.LazyFrame.

        A query decodes only the required columns, and stops when it has the required rows. The
        decoder skips records by filters on system, queue manager, time (`counted_at` or
        `smf_time`), and the names of jobs, queues and channels, compared with constants by `==`,
        `is_in`, `<` and similar operators. `collect` reads the inputs and raises their errors.
        `damage` then lists the damage found.
        """
        return lazy_frame(self.inputs, table)

    def connect(self) -> Connection:
        """Return a DuckDB connection with all tables; the caller closes the connection.

        Every scan of a table reads the SMF files: a join of three tables reads the files three
        times, whereas `sql` reads the files once. Times are UTC. A `cursor()` or `duplicate()` of
        the connection has no tables of SMF files. All errors are errors of duckdb.
        """
        return Catalog(self.inputs).with_everything()

    def sql(self, query: str, *, safe: bool = False, frame: Frame = "arrow") -> Any:
        """Return the rows of a DuckDB query on the tables.

        safe   whether to restrict the query to the tables: no file, no network, no setting, and no
               temporary files, so sorts and joins must fit into memory
        frame  type of the result: "arrow" (a pyarrow.Table), "polars" or "pandas" (a DataFrame)
        """
        _check_frame(frame)
        with Catalog(self.inputs, safe=safe) as catalog:
            return _framed(catalog.arrow(query), frame)

    def sqls(self, queries: Mapping[str, str], *, safe: bool = False) -> dict[str, pa.Table]:
        """Return the rows of several named queries; see `sql`.

        SMF files are read once for all queries; rows of the files are kept in the temporary folder.
        """
        with Catalog(self.inputs, safe=safe) as catalog:
            return dict(zip(queries, catalog.arrows(list(queries.values())), strict=True))


class SmfData(_Tables):
    """Open SMF files and datasets; every method reads the inputs again.

    Methods raise RequestError for unknown names, InputError for unreadable inputs, and DamageError
    for damage with `strict`. All these errors are SmfError.
    """

    @property
    def _commands(self) -> Commands:
        return Commands(_names(self.inputs), self.inputs.options)

    def report(
        self,
        name: str,
        *,
        interval: str | None = None,
        total: bool = False,
        frame: Frame = "arrow",
        **options: Any,
    ) -> Any:
        """Return the rows of a report: keys and values, as in its JSON output.

        name      a report, or one of MP1B's DD names: `log`, `TASK`
        interval  length of a section, such as 15m; None: default of the report
        total     whether to combine all intervals into one section
        frame     type of the result: "arrow" (a pyarrow.Table), "polars" or "pandas" (a DataFrame)
        options   other options of the command: by="job,queue", top=10
        """
        from smfparse.advice.answering import answered_parts
        from smfparse.reports.declaration import report

        _check_frame(frame)
        with Catalog(self.inputs) as catalog:
            which, sections = report(name), _sections(interval, total)
            parts = answered_parts(which, catalog, sections, **options)
            return _framed(pa.concat_tables(parts), frame)

    def show(
        self, name: str, *, interval: str | None = None, total: bool = False, **options: Any
    ) -> Shown:
        """Return a printed report; options as in `report`.

        Notebooks show the report as tables; otherwise it is text.
        """
        from smfparse.advice.answering import answered_rows
        from smfparse.reports.declaration import report
        from smfparse.reports.printing import ReportDocument

        which = report(name)
        with Catalog(self.inputs) as catalog:
            rows = [*answered_rows(which, catalog, _sections(interval, total), **options)]
        return Shown(lambda: ReportDocument(which, rows, options))

    def summary(self) -> Shown:
        """Return findings and metrics of each queue manager, as `smfparse summary` shows them."""
        from smfparse.summarizing.summary import SummaryDocument, summarized

        with Catalog(self.inputs) as catalog:
            days = summarized(catalog)
        return Shown(lambda: SummaryDocument(days, self._commands))

    def check(
        self,
        *,
        policy: str | Path | None = None,
        limits: Mapping[str, float] | None = None,
        only: Iterable[str] = (),
    ) -> Findings:
        """Return the ranked findings of all rules; their `table` is a pyarrow.Table.

        policy  a file with limits and exceptions of the site: see docs/check.md
        limits  limits by rule, or by rule and name: {"LOG-RESPONSE": 1200, "LOG-BUSY.pages": 90}
        only    rules and diagnoses to return, or patterns; empty: all rules and diagnoses
        """
        from smfparse.advice.policy import site_policy
        from smfparse.advice.wording import chosen_ids

        site = site_policy(Path(policy) if policy is not None else None, limits or {})
        with Catalog(self.inputs) as catalog:
            found = run_rules(catalog, site, chosen_ids(texts(only)))
        return Findings(**vars(found), commands=self._commands)

    def capacity(self, name: str, **values: Any) -> list[Answer]:
        """Return the answers of a planner, one for each queue manager, from its SMF data.

        name    a planner: `log`, `channels`; docs/planning.md lists all
        values  inputs that override measured values: log_io_time=92. For an input that is neither
                given nor measured, IBM's published value is used. A value outside the range of the
                planner is a RequestError
        """
        from smfparse.planning.answering import answers

        with Catalog(self.inputs) as catalog:
            return answers(planner(name), values, catalog)

    def dashboard(
        self, path: str | Path, *, before: SmfData | str | Path | None = None, force: bool = False
    ) -> None:
        """Write an HTML page with findings and charts.

        path    the file; an existing file is refused unless `force`
        before  earlier data of the same queue managers, shown in the charts and in a table of
                changes
        """
        from smfparse.dashboard.gathering import against, gathered
        from smfparse.dashboard.page import page_lines
        from smfparse.store.targets import check_file, new_file

        check_file(Path(path), force)
        earlier = open_data(before) if isinstance(before, (str, Path)) else before
        with Catalog(self.inputs) as catalog:
            found = gathered(catalog, self.inputs.met, self._commands)
        other = against(earlier.inputs, self.inputs) if earlier else None
        lines = page_lines(found, other)
        with new_file(Path(path), force) as file:
            file.writelines(f"{line}\n".encode(errors="backslashreplace") for line in lines)


def open_data(
    paths: str | Path | Url | Iterable[str | Path | Url],
    selection: Selection = ALL_RECORDS,
    **options: Unpack[Options],
) -> SmfData:
    """Open SMF files and datasets, and select the records of `selection`.

    paths            one or several files, folders, patterns, URLs, `-`; a Path is not a pattern
    selection        `Selection.of(qmgr="QM*", since="2200")`
    jobs             number of processes that decode large SMF files (in SQL and reports only
                     compressed files); default 1
    keep_duplicates  whether to keep records that an earlier dump contains
    strict           whether the first damage raises DamageError
    framing          record format of the SMF files: rdw, bdw, ...; None: detected
    fingerprints     whether `record` has `fingerprint` and `dump_start` (docs/dataset.md)
    max_copy         maximum bytes copied from standard input, a pipe or a device (docs/input.md)
    tz               zone of the local times of rows, reports and the selection: `utc`,
                     `Europe/Berlin`; None: zone of each z/OS system
    limits           memory limits: `smfparse.limits.Limits`

    Raises RequestError for an unknown zone, InputError if an input is missing, unreadable, no SMF
    file and no dataset, or too long to copy.
    """
    several = [paths] if isinstance(paths, (str, Path, Url)) else paths
    for name in options.keys() - Options.__annotations__.keys():
        raise TypeError(
            f"open() has no keyword argument {name!r}; it takes a selection, as "
            f"Selection.of(qmgr='QM01'), and {', '.join(Options.__annotations__)}"
        )
    return SmfData(open_inputs(several, ReadOptions(selection, **options)))


open = open_data  # noqa: A001 - as in gzip.open


def convert(
    inputs: str | Path | Iterable[str | Path],
    folder: str | Path,
    executor: Executor | None = None,
    *,
    append: bool = False,
    partition: bool = False,
    types: Literal["exact", "signed"] | None = None,
    force: bool = False,
    selection: Selection = ALL_RECORDS,
    **options: Unpack[Options],
) -> SmfData:
    """Write SMF files as a dataset, as `smfparse convert` does; return the dataset, opened.

    inputs     as in `open`, including URLs; `selection` and `options` also as in `open`
    folder     the dataset; a URL is allowed if no dataset exists there, without `append` and
               `force`
    executor   a concurrent.futures.Executor that decodes and writes files of 64 MB or more, in
               processes or on machines on which inputs and `folder` have the same paths
               (docs/dataset.md: Spark); None: `jobs` processes of this machine. Files are divided
               into at least `jobs` parts, of up to 1 GB. The executor is not shut down
    append     whether to add inputs to a dataset; waits up to one hour for other writers
    partition  whether to divide rows into folders by day, in large tables also by queue manager
    types      number types: "signed" for Iceberg, Delta and Spark; None: types of the existing
               dataset, or exact
    force      whether to replace an existing dataset

    Raises RequestError if `folder` contains other files, InputError if an input is unreadable or
    the executor fails, OutputError if the dataset cannot be written.
    """
    if append and force:
        raise RequestError("append and force exclude each other", "append", "force")
    opened = open_data(inputs, selection, **options).inputs.as_recorded()
    place = place_of(folder)
    check_apart((each.path for each in opened.sources), place)
    if append:
        append_dataset(opened, place, partition=partition, types=types, executor=executor)
    else:
        chosen = types or "exact"
        write_dataset(
            opened, place, force=force, partition=partition, types=chosen, executor=executor
        )
    return open_data(place)


def compact(folder: str | Path) -> Compacted:
    """Combine the small files of each folder of a dataset, like `smfparse compact`.

    Returns the number of files `before` and `after`, and their rows; all 0: nothing changed. Raises
    RequestError if `folder` is not a dataset, InputError if a file of the dataset is damaged,
    OutputError if a file cannot be written.
    """
    return compact_dataset(place_of(folder), LIMITS)


def commit(
    folder: str | Path, target: str, *, tables: str | Iterable[str] = ()
) -> dict[str, Change]:
    """Commit the files of a dataset to tables of Iceberg or Delta; return the changes by table.

    New files are added, and files that are no longer in the dataset are removed. Tables in object
    storage get copies of files on a disk. The call can be repeated at any time; without changes in
    the dataset, nothing is committed.

    folder  a dataset with types="signed", or its URL
    target  "iceberg:CATALOG.NAMESPACE", "delta:FOLDER" or "delta:s3://..." (docs/dataset.md)
    tables  the tables to commit; empty: all tables

    A `Change` contains the number of files `added`, `removed` and `stayed`.

    Raises RequestError if the target is unknown, its package is not installed, or the dataset has
    unsigned numbers; InputError if the dataset is unreadable, OutputError if the commit fails.
    """
    return commit_dataset(place_of(folder), target, texts(tables))


def compare(
    before: SmfData | str | Path,
    after: SmfData | str | Path,
    *,
    by: str | Iterable[str] = NAMES,
    renames: str | Iterable[str] = (),
    tolerance: float = TOLERANCE,
    interval: str | None = None,
) -> pl.DataFrame:
    """Return the changes between two inputs: the rows of `smfparse compare --format csv`.

    before     an open input, or its name; the same for `after`
    by         grouping of the rows: one or several of qmgr, job, queue, verb
    renames    "OLD=NEW": a name that differs in `after`; % for any characters
    tolerance  ratio up to which a change is ignored
    interval   length of intervals, such as 15m; None: as recorded

    Columns: qmgr, job, queue, verb, figure, before, after, difference, ratio, significant.
    """
    from smfparse.summarizing.sides import Rename, measured

    names = by.split(",") if isinstance(by, str) else list(by)
    seconds = every(interval).seconds if interval else None
    sides = (each if isinstance(each, SmfData) else open_data(each) for each in (before, after))
    first, second = (measured(each.inputs, seconds) for each in sides)
    found = [Rename.of(text) for text in texts(renames)]
    return compared(first, second, [name.strip() for name in names], found, tolerance)


def _names(inputs: Inputs) -> list[str]:
    return [each.name for each in inputs.sources]


def _check_frame(frame: str) -> None:
    """Raise RequestError for an unknown type of result, before any input is read."""
    if frame not in get_args(Frame):
        raise RequestError(f"no frame {frame!r}; give one of {', '.join(get_args(Frame))}", "frame")
    if frame == "pandas" and find_spec("pandas") is None:
        raise RequestError(f"pandas is not installed; run: {install_command('pandas')}", "frame")


def _framed(rows: pa.Table, frame: Frame) -> Any:
    if frame == "polars":
        return pl.from_arrow(rows)
    return rows.to_pandas() if frame == "pandas" else rows


def _sections(interval: str | None, total: bool) -> Sections | None:
    """Return the extent of a section; None: the extent that the report declares."""
    if interval and total:
        raise RequestError("interval and total exclude each other")
    return TOTAL if total else every(interval) if interval else None
