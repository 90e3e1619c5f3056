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
from typing import Any, Literal, TypeAlias, Unpack, get_args

import polars as pl
import pyarrow as pa

from smfparse import advice, capacity, comparing, dashboard, reports, store
from smfparse.errors import Damage, RequestError
from smfparse.inputs import Inputs, Options, ReadOptions, check_apart, open_inputs
from smfparse.inspecting import Group, InventoryDocument, inventory
from smfparse.limits import LIMITS
from smfparse.places import Url, place_of
from smfparse.planning import planner
from smfparse.query import Catalog, Connection, lazy_frame
from smfparse.rendering import Shown, notebook_html, visible
from smfparse.reports import TOTAL, Sections, every
from smfparse.selecting import ALL_RECORDS, Selection, texts
from smfparse.tables import (
    plain_schema,
    table_names,
    wanted_columns,
    wanted_tables,
    whole_schema,
)
from smfparse.writing import (
    Change,
    Compacted,
    append_dataset,
    commit_dataset,
    compact_dataset,
    write_dataset,
)

Frame: TypeAlias = Literal["arrow", "polars", "pandas"]
"""What rows come as: a pyarrow.Table, a polars.DataFrame, a pandas.DataFrame."""


@dataclass(frozen=True, repr=False)
class Findings(advice.Checked):
    """What the rules say of inputs; notebooks show it as `check` does.

    inputs  as they were named, for the commands that show the evidence
    """

    inputs: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return notebook_html(advice.CheckDocument(self, self.inputs))


class _Tables:
    """The rows of what is open, by table or by query."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def __repr__(self) -> str:
        names = ", ".join(_names(self.inputs))
        return f"<SMF data of {visible(names)}>"

    def _repr_html_(self) -> str:
        return notebook_html(InventoryDocument(self.inputs, inventory(self.inputs)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables: a control block each, and `record` and `damage`."""
        return tuple(table_names())

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be used, as far as the inputs have been read."""
        return tuple(self.inputs.met.details)

    def info(self) -> list[Group]:
        """Count records and bytes by system, queue manager, MQ version, type and subtype."""
        return inventory(self.inputs).groups

    def batches(
        self, table: str, columns: str | Iterable[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table as pyarrow.RecordBatches, in the order of the inputs.

        columns  those that are wanted, None: all; only these are decoded
        """
        plain = self._schema(table, columns)
        for _, batch in self.inputs.batches({table.lower(): frozenset(plain.names)}):
            chosen = batch.select(plain.names)
            yield chosen.cast(plain) if plain.names else chosen  # a cast forgets how many rows

    def arrow(self, table: str, columns: str | Iterable[str] | None = None) -> pa.Table:
        """Return the rows of a table as a pyarrow.Table; columns as in `batches`."""
        plain = self._schema(table, columns)
        return pa.Table.from_batches(self.batches(table, plain.names), plain)

    def _schema(self, table: str, columns: str | Iterable[str] | None) -> pa.Schema:
        """Return the schema of wanted columns (None: all), in the order in which they are named."""
        (known,) = wanted_tables([table])
        if columns is None:
            return plain_schema(known, self.inputs.names(known))
        return pa.schema(map(whole_schema(known).field, wanted_columns(known, texts(columns))))

    def polars(self, table: str) -> pl.LazyFrame:
        """Return the rows of a table as a polars.LazyFrame.

        A query decodes only the columns that it needs, stops when it has the rows that it takes,
        and has the decoder leave out records by what it filters by: system, queue manager, time
        (`counted_at` or `smf_time`), and the names of jobs, queues and channels, compared with
        constants by `==`, `is_in`, `<` and the like. Collecting it reads the inputs and raises what
        that raises. `damage` has then what could not be used of what was read.
        """
        return lazy_frame(self.inputs, table)

    def connect(self) -> Connection:
        """Return a DuckDB connection with all tables; close it when it is no longer needed.

        Every scan of a table reads the SMF files anew, for the columns that the query needs: a
        join of three tables reads them three times, where `sql` reads them once. Times are UTC.
        A `cursor()` or `duplicate()` of the connection has no tables of SMF files.
        Errors are those of duckdb, whatever is wrong.
        """
        return Catalog(self.inputs).with_everything()

    def sql(self, query: str, *, safe: bool = False, frame: Frame = "arrow") -> Any:
        """Return the rows of a DuckDB query over the tables.

        safe   whether the query reaches nothing but the tables: no file, no network, no setting. It
               has no room on disk then, so what it sorts or joins has to fit into memory
        frame  what they come as: "arrow" (a pyarrow.Table), "polars" or "pandas" (a DataFrame)
        """
        _check_frame(frame)
        with Catalog(self.inputs, safe=safe) as catalog:
            return _framed(catalog.arrow(query), frame)

    def sqls(self, queries: Mapping[str, str], *, safe: bool = False) -> dict[str, pa.Table]:
        """Return the rows of several queries, by the names that they are given; see `sql`.

        SMF files are read once for all of them; what the queries need lies in the temporary folder
        meanwhile.
        """
        with Catalog(self.inputs, safe=safe) as catalog:
            return dict(zip(queries, catalog.arrows(list(queries.values())), strict=True))


class SmfData(_Tables):
    """SMF files and datasets that are open; every method reads them anew.

    Raises, whichever method meets them: RequestError for what is not there to be asked for,
    InputError and DamageError for what cannot be read. All are SmfError.
    """

    def report(
        self,
        name: str,
        *,
        interval: str | None = None,
        total: bool = False,
        frame: Frame = "arrow",
        **options: Any,
    ) -> Any:
        """Return the rows of a report: keys and figures, as JSON has them.

        name      that of a report, or one of MP1B's DD names: `log`, `TASK`
        interval  length of a section, as 15m; None: as the report has it
        total     whether a section has everything
        frame     what they come as: "arrow" (a pyarrow.Table), "polars" or "pandas" (a DataFrame)
        options   what else the command line's options ask for: by="job,queue", top=10
        """
        _check_frame(frame)
        with Catalog(self.inputs) as catalog:
            which, sections = reports.report(name), _sections(interval, total)
            parts = advice.answered_parts(which, catalog, sections, **options)
            return _framed(pa.concat_tables(parts), frame)

    def show(
        self, name: str, *, interval: str | None = None, total: bool = False, **options: Any
    ) -> Shown:
        """Return a report as the command line prints it; options as of `report`.

        It shows itself: as tables in a notebook, as text elsewhere.
        """
        which = reports.report(name)
        with Catalog(self.inputs) as catalog:
            rows = [*advice.answered_rows(which, catalog, _sections(interval, total), **options)]
        return Shown(lambda: reports.ReportDocument(which, rows, options))

    def check(
        self,
        *,
        policy: str | Path | None = None,
        limits: Mapping[str, float] | None = None,
        only: Iterable[str] = (),
    ) -> Findings:
        """Return the findings of all rules, ranked; `table` of them is a pyarrow.Table.

        policy  a file that says what the site has of its own: see docs/check.md
        limits  by rule, or rule and name: {"LOG-RESPONSE": 1200, "LOG-BUSY.pages": 90}
        only    rules and diagnoses, or patterns, whose findings are wanted; empty: all
        """
        site = advice.site_policy(Path(policy) if policy is not None else None, limits or {})
        with Catalog(self.inputs) as catalog:
            found = advice.run_rules(catalog, site, advice.chosen_ids(texts(only)))
        return Findings(**vars(found), inputs=_names(self.inputs))

    def capacity(self, name: str, **values: Any) -> list[capacity.Answer]:
        """Return the answers of a planner, one for each queue manager, from what its SMF shows.

        name    that of a planner: `log`, `channels`; docs/planning.md has all
        values  what goes before what is measured: log_io_time=92; the rest is as published.
                A value outside the range of the planner is a RequestError
        """
        with Catalog(self.inputs) as catalog:
            return capacity.answers(planner(name), values, catalog)

    def dashboard(
        self, path: str | Path, *, before: SmfData | str | Path | None = None, force: bool = False
    ) -> None:
        """Write a page of HTML that shows what went wrong, when, and the charts that prove it.

        path    the file; refused where it exists, unless `force`
        before  an earlier time, drawn behind the same queue managers, with a table of what changed
        """
        store.check_file(Path(path), force)
        earlier = open_data(before) if isinstance(before, (str, Path)) else before
        with Catalog(self.inputs) as catalog:
            found = dashboard.gathered(catalog, self.inputs.met, _names(self.inputs))
        other = dashboard.against(earlier.inputs, self.inputs) if earlier else None
        lines = dashboard.page_lines(found, other)
        with store.new_file(Path(path), force) as file:
            file.writelines(f"{line}\n".encode(errors="backslashreplace") for line in lines)


def open_data(
    paths: str | Path | Url | Iterable[str | Path | Url],
    selection: Selection = ALL_RECORDS,
    **options: Unpack[Options],
) -> SmfData:
    """Open SMF files and datasets, of which the records of `selection` are wanted.

    paths            one or several: files, folders, patterns, URLs, `-`; Paths are only themselves
    selection        `Selection.of(qmgr="QM*", since="2200")`
    jobs             processors that are used for SMF files, when these are large; 1 by default
    keep_duplicates  whether to keep records that an earlier dump has as well
    strict           whether the first damage ends the reading, by DamageError
    framing          framing of the SMF files: rdw, bdw, ...; None: detected
    fingerprints     whether `record` has `fingerprint` and `dump_start` (docs/scale.md)
    max_copy         bytes of standard input, a pipe or a device that are copied (docs/input.md)
    tz               zone of the local times of rows, reports and the selection: `utc`,
                     `Europe/Berlin`; None: that of each z/OS system, as recorded
    limits           how much is held at once: `smfparse.limits.Limits`

    Raises RequestError for an unknown zone, InputError where an input is missing, unreadable,
    neither of these or too long to copy.
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

    inputs     as in `open`, URLs too, and likewise `selection` and `options`; `folder` may be one
    executor   a concurrent.futures.Executor that decodes and writes files of 64 MB and more, in
               processes or on machines that see inputs and `folder` by the same paths
               (docs/scale.md has Dask, Ray and Spark); None: `jobs` processes of this machine.
               Files are cut into at least `jobs` parts, of up to 1 GB. It is not shut down
    append     whether inputs are added to a dataset, after others that write there (for an hour)
    partition  whether rows are divided into folders by day, those of large tables by queue manager
    types      of numbers: "signed": as Iceberg, Delta and Spark have; None: as there, or exact
    force      whether a dataset that is there is replaced

    Raises RequestError where `folder` holds something else, InputError where an input cannot be
    read or the executor fails, OutputError where the dataset cannot be written.
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
    """Put the short files of each folder of a dataset together, as `smfparse compact` does.

    Returns how many files there were (`before`), what they became (`after`), and their rows; all 0
    where nothing was to be done. Raises RequestError where `folder` has no dataset, InputError
    where a file of it is damaged, OutputError where it cannot be written.
    """
    return compact_dataset(place_of(folder), LIMITS)


def commit(
    folder: str | Path, target: str, *, tables: str | Iterable[str] = ()
) -> dict[str, Change]:
    """Commit the files of a dataset to tables of Iceberg or Delta; return what changed, by table.

    Nothing is written again. New files are added, those that went are removed: it can be run again
    at any time, and does nothing where nothing is new.

    folder  a dataset with types="signed", or a URL of one
    target  "iceberg:CATALOG.NAMESPACE" or "delta:FOLDER" (docs/scale.md)
    tables  those that are committed; all by default

    A `Change` has how many files were `added` and `removed`, and how many `stayed`.

    Raises RequestError where the target is none, its extra is not installed, or the dataset has
    unsigned numbers; InputError where that cannot be read, OutputError where the commit fails.
    """
    return commit_dataset(place_of(folder), target, texts(tables))


def compare(
    before: SmfData | str | Path,
    after: SmfData | str | Path,
    *,
    by: str | Iterable[str] = comparing.NAMES,
    renames: str | Iterable[str] = (),
    tolerance: float = comparing.TOLERANCE,
    interval: str | None = None,
) -> pl.DataFrame:
    """Return what changed from one to the other: the rows of `smfparse compare --format csv`.

    before     what is open, or is opened for this; likewise `after`
    by         what rows are grouped by: some of qmgr, job, queue, verb
    renames    "OLD=NEW": what is called otherwise in `after`; % for any characters
    tolerance  ratio up to which a change is ignored
    interval   length of intervals, as 15m; None: as recorded

    Columns: qmgr, job, queue, verb, figure, before, after, difference, ratio, significant.
    """
    names = by.split(",") if isinstance(by, str) else list(by)
    seconds = every(interval).seconds if interval else None
    sides = (each if isinstance(each, SmfData) else open_data(each) for each in (before, after))
    first, second = (comparing.measured(each.inputs, None, seconds) for each in sides)
    found = [comparing.Rename.of(text) for text in texts(renames)]
    return comparing.compared(first, second, [name.strip() for name in names], found, tolerance)


def _names(inputs: Inputs) -> list[str]:
    return [each.name for each in inputs.sources]


def _check_frame(frame: str) -> None:
    """Raise RequestError for what rows cannot come as, before anything is read."""
    if frame not in get_args(Frame):
        raise RequestError(f"no frame {frame!r}; give one of {', '.join(get_args(Frame))}", "frame")
    if frame == "pandas" and find_spec("pandas") is None:
        raise RequestError("pandas is not installed; run: pip install pandas", "frame")


def _framed(rows: pa.Table, frame: Frame) -> Any:
    if frame == "polars":
        return pl.from_arrow(rows)
    return rows.to_pandas() if frame == "pandas" else rows


def _sections(interval: str | None, total: bool) -> Sections | None:
    """Return what makes a section; None: what the report itself declares."""
    if interval and total:
        raise RequestError("interval and total exclude each other")
    return TOTAL if total else every(interval) if interval else None
