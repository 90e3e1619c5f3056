"""Reports of many intervals: made of one slice of the rows after the other, they are the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from smfparse.decoding.selection import Selection
from smfparse.errors import SmfError
from smfparse.inputs.opening import Inputs, open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.limits import Limits
from smfparse.query import slices
from smfparse.query.catalog import Catalog
from smfparse.query.scans import InMemory
from smfparse.reports.declaration import report, report_names
from smfparse.reports.running import report_parts, run_report
from smfparse.reports.sections import HIDDEN, Sections, every
from tests.support.command import COMMAND
from tests.support.generated import generate_dump
from tests.support.report_runs import anyone, printed
from tests.support.searching import of_many, some
from tests.support.small_site import write_small_site

OF_ALL = (
    "api-cost", "application", "channels", "clients", "cluster", "flow", "mft", "qall", "qgets",
    "qputs", "requests", "shared", "smf-volume", "streaming", "tasksum",
)  # fmt: skip
"""Reports that put rows of all times together."""
BOUNDS = ("1MB", "2MB", "80%")
_SETTINGS = """
SELECT current_setting('threads') AS threads, current_setting('memory_limit') AS memory,
    current_setting('preserve_insertion_order') AS ordered
"""

_MAXRSS = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two systems, of which the times overlap, and a third that has intervals of its own."""
    folder = tmp_path_factory.mktemp("files")
    dump = generate_dump(folder / "dump.smf", version="10.0.0", count=6, tasks=4)
    return [write_small_site(folder / "site.smf"), dump]


@pytest.fixture(scope="module")
def sliced(files: list[Path]) -> Iterator[Catalog]:
    """The same, of which reports are made slice by slice."""
    with Catalog(open_inputs(files, ReadOptions(limits=Limits(slice_bytes=1)))) as catalog:
        yield catalog


@pytest.fixture(scope="module")
def whole(files: list[Path]) -> Iterator[Catalog]:
    """The files, of which reports are made as one slice, for which no setting is changed."""
    with Catalog(open_inputs(files)) as catalog:
        yield catalog


def rows_of(name: str, catalog: Catalog) -> list[dict[str, Any]]:
    return list(run_report(report(name), catalog))


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many slices there would be, each time; three are made."""
    found: list[int] = []
    made_of = slices.Slices.made_of

    def noted(self: slices.Slices, spool: Any, count: int) -> Any:
        found.append(count)
        return made_of(self, spool, 3)

    monkeypatch.setattr(slices.Slices, "made_of", noted)
    return found


SLICED: Sequence[tuple[str, Sections | None]] = [
    *((name, None) for name in report_names() if not report(name).rules),
    *((name, every("15m")) for name in ("log", "stg", "task", "streaming")),
]


@pytest.mark.sampled(2)
@of_many("name, sections", some(SLICED, 5), ids=str)
def test_a_report_is_the_same_slice_by_slice(
    name: str, sections: Sections | None, whole: Catalog, sliced: Catalog, counts: list[int]
) -> None:
    """Rows and their types in JSON, and parts: these are those of one slice.

    The types of parts are those of SQL: integers of 128 bits would be others, by what is in a file.
    """
    which, asked = report(name), anyone(report(name))
    expected = list(run_report(which, whole, sections, **asked))
    (at_once,) = report_parts(which, whole, sections, **asked)
    assert not counts
    found = list(run_report(which, sliced, sections, **asked))
    assert list(printed(which, found, "json")) == list(printed(which, expected, "json"))
    parts = list(report_parts(which, sliced, sections, **asked))
    rows = [row for part in parts for row in part.to_pylist()]
    shown = [row for row in expected if which.has(row.get("line") or "", "json")]
    expected = [{name: row[name] for name in row if name not in HIDDEN} for row in shown]
    assert rows == expected == at_once.to_pylist()
    assert {part.schema for part in parts} == {at_once.schema}
    assert not [each for each in parts[0].schema if pa.types.is_decimal(each.type)]
    assert [count > 1 for count in counts] == [True, True] * (name not in OF_ALL)
    if which.is_rankable and not asked:
        first = [list(run_report(which, each, sections, top=2)) for each in (whole, sliced)]
        assert first[0] == first[1]


@of_many("name", some([name for name, _ in SLICED if name not in OF_ALL], 3))
def test_a_report_reads_large_files_once(
    name: str, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What slices need to know their rows by is read with the rest."""
    reads: list[Any] = []
    batches = Inputs.batches
    monkeypatch.setattr(Inputs, "batches", lambda *asked: reads.append(asked) or batches(*asked))
    options = ReadOptions(limits=Limits(slice_bytes=1, whole_bytes=0))
    with Catalog(open_inputs(files, options)) as catalog:
        assert list(run_report(report(name), catalog, **anyone(report(name))))
    assert len(reads) == 1


def test_a_report_without_sections_has_one_part(files: list[Path], monkeypatch: pytest.MonkeyPatch):
    """Neither where nothing was read, nor where what was read has no section."""
    for name, others in (("task", "115"), ("log", "116")):
        with Catalog(open_inputs(files, ReadOptions(Selection.of(type=others)))) as catalog:
            for read in (InMemory.bytes, 1 << 40):
                with monkeypatch.context() as patch:
                    patch.setattr(InMemory, "bytes", read)
                    assert [part.num_rows for part in report_parts(report(name), catalog)] == [0]


@pytest.mark.long
def test_a_slice_has_few_sections(
    files: list[Path], whole: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of many sections take memory, however few bytes were read for them."""
    shown = []
    each = slices.Slices._each

    def noted(self: slices.Slices, folders: Mapping[str, Path]) -> Iterator[None]:
        for number, _ in enumerate(each(self, folders)):
            shown.append(number)
            yield

    monkeypatch.setattr(slices.Slices, "_each", noted)
    options = ReadOptions(limits=Limits(slice_bytes=20_000, slice_sections=2))
    with Catalog(open_inputs(files, options)) as catalog:
        rows = rows_of("log", catalog)
    assert len(shown) == len({str(row["section"]) for row in rows}) // 2 > 3
    assert rows == rows_of("log", whole)


@of_many("name, bounds", some([("log", BOUNDS), ("log", BOUNDS[::2]), ("streaming", BOUNDS)], 1))
def test_a_report_that_needs_more_memory_has_it(
    name: str,
    bounds: tuple[str, ...],
    files: list[Path],
    whole: Catalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It ends where no memory is enough."""
    options = ReadOptions(limits=Limits(slice_bytes=1))
    monkeypatch.setattr(slices, "_BOUNDS", bounds)
    monkeypatch.setitem(slices._SETTINGS, "memory_limit", bounds[0])
    with Catalog(open_inputs(files, options)) as catalog:
        found = rows_of(name, catalog)
        after = catalog.arrow(_SETTINGS).to_pylist()
    assert after == whole.arrow(_SETTINGS).to_pylist()
    assert found == rows_of(name, whole)
    monkeypatch.setattr(slices, "_BOUNDS", BOUNDS[:2])
    with (
        Catalog(open_inputs(files, options)) as catalog,
        pytest.raises(SmfError, match=r"Out of Memory.*select fewer rows or columns"),
    ):
        rows_of("streaming", catalog)


def test_tables_show_all_rows_again_behind_the_slices(files: list[Path]) -> None:
    options = ReadOptions(limits=Limits(slice_bytes=20_000))
    with Catalog(open_inputs(files, options)) as catalog:
        count = catalog.arrow("SELECT count(*) FROM qjst").to_pydict()
        for rows in (1, 10_000):
            with closing(run_report(report("log"), catalog)) as found:
                assert len(list(zip(found, range(rows), strict=False)))
            assert catalog.arrow("SELECT count(*) FROM qjst").to_pydict() == count
            left = catalog.connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
            assert left == [(0,)]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="memory is what Linux counts")
@pytest.mark.parametrize(
    "asked", ["smf-volume", "qstat", "streaming", "stg", "qstat --format parquet --output"]
)
def test_memory_of_ten_times_as_many_intervals_is_at_most_half_as_much_again(
    asked: str, many: Sequence[Path], tmp_path: Path
) -> None:
    name, *more = asked.split()
    peaks = []
    for path in many:
        target = [tmp_path / f"{path.stem}.parquet"] if more else []
        command = [*COMMAND, "report", name, str(path), *more, *map(str, target)]
        measured = [sys.executable, "-c", _MAXRSS, *command]
        peaks.append(int(subprocess.run(measured, check=True, capture_output=True).stdout))
    assert peaks[1] < 1.5 * peaks[0]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Files of intervals, and of ten times as many."""
    folder = tmp_path_factory.mktemp("many")
    made = {"qmgrs": ["QM01"], "version": "10.0.0", "tasks": 1, "queues": 1}
    return [generate_dump(folder / f"{n}.smf", count=n, **made) for n in (2000, 20_000)]
