"""From streams of record batches to a Parquet dataset.

Files belong to the dataset when its manifest lists them (`Writer` of `store`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from smfparse.errors import RequestError
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import SmfFile, being_read, damage_rows
from smfparse.limits import LIMITS, Limits
from smfparse.places.kinds import Place
from smfparse.places.url import Url
from smfparse.store.belonging import contents, has_manifest, interrupted, ours, own_names
from smfparse.store.database import take_back
from smfparse.store.hive import Layout
from smfparse.store.manifest import EXACT, SIGNED, Manifest, NamedFile, part_number
from smfparse.store.objects import AnyFolder
from smfparse.store.parquet import Form
from smfparse.store.plain import check_plain
from smfparse.store.targets import check_folder, in_folder
from smfparse.store.writer import Writer, only_writer
from smfparse.tables.arrow import Batch, Wanted
from smfparse.tables.dictionary import DAMAGE, decoded_tables
from smfparse.writing.making import Making
from smfparse.writing.manifests import are_files, news_of, rows_of
from smfparse.writing.originals import originals
from smfparse.writing.parts import PartFiles

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from smfparse.store.parquet import WritingThread

_ALREADY = "a dataset already exists; append=True adds to it, force=True replaces it"
_ONCE = (
    "a dataset at a URL is written once; append to one on a disk, and convert that to delta:URL or "
    "iceberg:CATALOG.NAMESPACE"
)


def write_dataset(
    inputs: Inputs,
    folder: Place,
    *,
    force: bool = False,
    partition: bool = False,
    types: str = EXACT,
    executor: Executor | None = None,
) -> Manifest:
    """Write every table of `inputs` to a dataset in `folder`; return the dataset's properties.

    force      whether an existing dataset is replaced
    partition  whether rows are divided into folders by day (local time of the system), and rows of
               tables that grow with work also by queue manager
    types      types of numbers: EXACT, or SIGNED (types that Iceberg, Delta, Trino and Spark
               support)
    executor   decodes and writes large SMF files, in processes that read inputs and `folder` under
               the same paths; None: processes of this run, one per job

    Raises RequestError if `folder` already contains a dataset (unless `force`) or other files,
    OutputError if the dataset cannot be written or another process writes to it, and InputError if
    an input changes while it is read.
    """
    if force:
        refuse_url(folder)
    check_free(folder, force)
    with alone_in(folder, limits=inputs.options.limits, anew=force) as writer:
        if not force:  # another run may have ended just now
            check_free(folder, force)
        return write_whole(inputs, writer, partition, types, executor)


def form_of(types: str, *, fingerprints: bool) -> Form:
    """Return the form of a dataset's columns; `columns.json` has their meanings, not the files."""
    return Form(False, is_signed=types == SIGNED, has_fingerprints=fingerprints)


def write_whole(
    inputs: Inputs, writer: Writer, partition: bool, types: str, executor: Executor | None
) -> Manifest:
    """Write a new dataset, or replace an existing dataset."""
    writer.clear()
    read = originals(each for each in inputs.sources if isinstance(each, SmfFile))
    limits = inputs.options.limits
    first = _next_number(writer.folder.path)
    form = form_of(types, fingerprints=inputs.options.fingerprints)
    making = Making(writer.folder, Layout(partition), first, read, limits, form, executor)
    manifest, _ = make(inputs, writer, making)
    return manifest


def make(inputs: Inputs, writer: Writer, made: Making) -> tuple[Manifest, dict[str, int]]:
    """Write all files of a run; return the dataset's properties, and number of rows by table."""
    written = _write_all(inputs, made)
    news = news_of(inputs, made, written)
    writer.publish(news)
    return news.head, rows_of(written)


@contextmanager
def alone_in(
    folder: Place,
    deep: Callable[[str], bool] = bool,
    limits: Limits = LIMITS,
    *,
    waits: bool = False,
    anew: bool = False,
) -> Iterator[Writer]:
    """Yield the only writer of a folder, which is created if necessary, and removed if empty.

    deep         whether the folder of a dataset with this name is searched for links; default: all
    waits, anew  as in `only_writer`

    Raises OutputError if another process writes to the folder, or a link leads out of it.
    """
    with in_folder(folder), only_writer(folder, limits, waits=waits, anew=anew) as writer:
        check_plain(folder, own_names(), deep)
        yield writer


def refuse_url(folder: Place) -> None:
    """Raise RequestError if a dataset is at a URL, where it can be written only once."""
    if isinstance(folder, Url):
        raise RequestError(f"{folder}: {_ONCE}")


def check_free(folder: Place, force: bool) -> None:
    """Raise RequestError if a dataset cannot be written, or exists (unless `force`)."""
    if isinstance(folder, Path):
        take_back(folder)  # an interrupted first run may have left only a journal
    already = f"already exists; {_ONCE}" if isinstance(folder, Url) else _ALREADY
    check_folder(folder, _has_dataset, already, force)


def _has_dataset(folder: Place) -> bool | None:
    """Whether a folder contains a dataset; None: it contains at most files of a killed run."""
    if has_manifest(folder):
        return True
    if not contents(folder) or interrupted(folder):
        return None
    return has_manifest(folder)  # another run may have ended just now


def _write_all(inputs: Inputs, made: Making) -> list[NamedFile]:
    log = inputs.log
    log.count_unknown = True
    log.records = made.recorder if are_files(inputs.sources) else None
    try:
        written = [each for some in _written(inputs, made) for each in some]
    finally:
        log.records = None
    log.damage.arrange()
    return [*written, *_write_damage(inputs, made)]


def _written(inputs: Inputs, made: Making) -> Iterator[list[NamedFile]]:
    """Write the rows of `inputs`, by one process or several; yield the files of each unit."""
    wanted = {table: made.form.names(table) for table in decoded_tables()}
    is_new = made.old is None
    write = partial(_write, made.folder, made.layout, made.form, made.first, is_new)
    jobs, limits, sources = inputs.options.jobs, made.limits, inputs.sources
    if jobs == 2 and made.executor is None and inputs.are_large(sources):
        yield _write_beside(inputs, wanted, partial(write, limits.held_bytes, limits, 0))
        return
    workers = inputs.workers(sources, wanted, made.executor)
    if workers is None:
        yield write(limits.held_bytes, limits, 0, inputs.batches(wanted))
        return
    with workers:
        found = inputs.units(sources, wanted, workers, ahead=False)
        if len(found) > 1 or not workers.are_ours:
            from smfparse.inputs.parallel import in_order  # several processes are slow to load

            held = limits.held_bytes // (jobs if workers.are_ours else 1)
            outcomes = in_order(found, partial(write, held, limits), workers, inputs.log)
            with being_read(sources), closing(outcomes):
                for outcome in outcomes:
                    inputs.log.add(outcome.log)
                    yield outcome.made or []
            return
    yield write(limits.held_bytes, limits, 0, inputs.by_one_process().batches(wanted))


def _write_beside(
    inputs: Inputs, wanted: Wanted, write: Callable[..., list[NamedFile]]
) -> list[NamedFile]:
    """Write the rows of `inputs` in one thread, and decode in another thread.

    This takes as long as two processes, and less CPU time, because files are not divided.
    """
    from smfparse.store.parquet import WritingThread  # threads are slow to load

    thread = WritingThread(inputs.options.limits.held_bytes)
    try:
        return write(inputs.by_one_process().batches(wanted), thread)
    finally:
        thread.stop()


def _write(
    folder: AnyFolder,
    layout: Layout,
    form: Form,
    first: int,
    is_new: bool,
    held: int,
    limits: Limits,
    number: int,
    found: Iterator[tuple[str, Batch]],
    thread: WritingThread | None = None,
) -> list[NamedFile]:
    """Write batches as Parquet files; part 0 of a new dataset has a file for every table.

    held    maximum number of buffered bytes
    thread  thread that compresses and writes; None: the calling thread
    """
    files = PartFiles(folder, first + number, layout, held, limits, form, thread)
    try:
        for table, batch in found:
            files.add(table, batch)
        return files.finish(decoded_tables() if is_new and not number else ())
    except BaseException:
        files.give_up()
        raise


def _write_damage(inputs: Inputs, made: Making) -> list[NamedFile]:
    rows = damage_rows(made.not_known(inputs.met))
    if made.old is not None and not rows.num_rows:
        return []
    limits = made.limits
    files = PartFiles(made.folder, made.first, made.layout, limits.held_bytes, limits, made.form)
    files.add(DAMAGE, rows)
    return files.finish([DAMAGE])


def _next_number(folder: Place) -> int:
    return 1 + max((part_number(each.name) for each in ours(folder)), default=-1)
