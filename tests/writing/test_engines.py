"""What engines write and read is what one process does: by an executor, or as a source of Spark."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.errors import DamageError, InputError, RequestError
from smfparse.limits import Limits
from smfparse.reading import input as reading_input
from smfparse.store import read_manifest
from smfparse.tables import IDENTITY_COLUMNS, schema
from tests.support import command
from tests.support.builders import UTC_NOON, foreign_record
from tests.support.engines import COUNTED, recipe, statement
from tests.support.mixed_records import TABLES, many
from tests.support.storage import serving

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=60_000)
OF_FILES = ("files", "checksums", "records", "rows", "record_days", "next")
"""What of a manifest depends on how many files were written."""


def header(hour: int) -> bytes:
    return foreign_record(2, UTC_NOON.replace(tzinfo=None, hour=hour))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files: two has records of one, and a dump of its own twice; the last is damaged."""
    folder = tmp_path_factory.mktemp("dumps")
    one, two, three = ([b"".join(each.pieces()) for each in many(200, seed)] for seed in (1, 2, 3))
    parts = {
        "one": [header(1), *one],
        "two": [header(2), *one[100:150], *(2 * [header(3), *two])],
        "three": [*three[:100], random.Random(1).randbytes(300), *three[100:]],
    }
    for name, records in parts.items():
        (folder / f"{name}.smf").write_bytes(b"".join(records))
    return [folder / f"{name}.smf" for name in parts]


@pytest.fixture(scope="module")
def one(inputs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("one") / "tables"
    assert smfparse.convert(inputs, target, limits=SMALL).damage
    return target


class Twice(Executor):
    """Does all work at once, and twice, as Spark may."""

    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            work(*call, **names)
            future.set_result(work(*call, **names))
        except Exception as error:
            future.set_exception(error)
        return future


class Failing(Twice):
    def submit(self, work: Callable[..., Any], /, *call: Any, **names: Any) -> Future[Any]:
        return super().submit(lambda: exec("raise RuntimeError('no worker is left\\nat all')"))


@pytest.fixture(params=("threads", "processes", "dask", "ray", "spark"))
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as found:
            yield found
    elif request.param == "dask":
        distributed = pytest.importorskip("distributed")
        one = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.Client(**one) as client:
            yield client.get_executor()
    elif request.param == "ray":
        ray = pytest.importorskip("ray")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield recipe("RayExecutor")["RayExecutor"]()
        ray.shutdown()
    else:
        session = request.getfixturevalue("spark")
        yield recipe("SparkExecutor")["SparkExecutor"](session)


def assert_same(folder: Path, other: Path) -> None:
    one, two = smfparse.open(folder), smfparse.open(other)
    for table in one.tables:
        assert one.arrow(table) == two.arrow(table), table
    first, second = (
        {key: value for key, value in read_manifest(each).items() if key not in OF_FILES}
        for each in (folder, other)
    )
    assert first == second


@pytest.mark.long
def test_an_executor_writes_what_one_process_writes(
    executor: Executor, inputs: list[Path], one: Path, tmp_path: Path
) -> None:
    smfparse.convert(inputs, tmp_path / "other", executor, limits=SMALL)
    assert_same(tmp_path / "other", one)
    assert sum(each["duplicates"] for each in read_manifest(one)["inputs"]) > 200
    assert len(list((tmp_path / "other" / "record").iterdir())) > 4


@pytest.mark.long
def test_an_executor_that_works_twice_adds_each_row_once(
    inputs: list[Path], tmp_path: Path
) -> None:
    for name, executor in (("one", None), ("other", Twice())):
        smfparse.convert(inputs[:1], tmp_path / name, limits=SMALL)
        smfparse.convert(inputs, tmp_path / name, executor, append=True, limits=SMALL)
    assert_same(tmp_path / "other", tmp_path / "one")


def test_workers_elsewhere_read_all_records_of_sound_files_by_the_paths_of_the_user(
    inputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        monkeypatch.chdir(tmp_path)
        executor.submit(len, ()).result()
        monkeypatch.chdir(inputs[0].parent)
        monkeypatch.delattr(reading_input, "read_chunks")  # this process reads no record
        found = smfparse.convert("one.smf", tmp_path / "tables", executor, limits=SMALL)
    assert found.arrow("record").num_rows > 150
    assert set(found.arrow("record")["source"].to_pylist()) == {"one.smf"}


def test_damage_and_failures_leave_nothing(inputs: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "tables"
    with pytest.raises(DamageError, match=r"one\.smf: record 3"):
        smfparse.convert(inputs, target, Twice(), strict=True, limits=SMALL)
    with pytest.raises(InputError) as raised:
        smfparse.convert(inputs, target, Failing(), limits=SMALL)
    assert str(raised.value) == "the executor failed: RuntimeError: no worker is left"
    assert not target.exists()
    asked = ("convert", inputs[0], "--to", target, "--executor")
    for name in ("nothing", "no.such:module", "os:no_such", ":x"):
        done = command.run(*asked, name)
        assert (done.exit_code, "PYTHONPATH" in done.output) == (2, True), name
    done = command.run(*asked, "concurrent.futures:ThreadPoolExecutor")
    assert done.exit_code == 4, done.output  # blocks are damaged


# The source `smf` of Spark, mostly read without Spark ---------------------------------------------

IN_PARTS = {"partBytes": "60000"}


@pytest.fixture(scope="module")
def dumps(inputs: list[Path]) -> Path:
    return inputs[0].parent


def expected(dumps: Path | str, table: str, **options: Any) -> list[dict[str, Any]]:
    return smfparse.open(dumps, **options).arrow(table).to_pylist()


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Return rows with whole numbers as such: Spark has decimals for the largest."""
    kinds = [pa.int64() if kind == pa.decimal128(20, 0) else kind for kind in rows.schema.types]
    names = rows.column_names
    whole = rows.cast(pa.schema([*zip(names, kinds, strict=True)]), safe=False)
    return whole.to_pylist()  # type: ignore[no-any-return]


def reader_of(dumps: Path, **options: str) -> Any:
    pytest.importorskip("pyspark.sql.datasource")
    from pyspark_smfparse import DefaultSource

    source = DefaultSource({"path": str(dumps), **options})
    return source.reader(source.schema())


def read_all(reader: Any) -> pa.Table:
    """Read all parts, each of which could be sent to another process."""
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    return pa.Table.from_batches([each for part in parts for each in reader.read(part)])


def read_here(dumps: Path, table: str, **options: str) -> pa.Table:
    return read_all(reader_of(dumps, table=table, **options))


def test_parts_have_the_rows_of_one_process_with_decimals_or_long(dumps: Path) -> None:
    assert len(reader_of(dumps, table="record", **IN_PARTS).partitions()) > 1
    for table in (*TABLES, "damage"):
        assert plain(read_here(dumps, table, **IN_PARTS)) == expected(dumps, table), table
    unsigned = [each.name for each in schema("wqst") if each.type == pa.uint64()]
    for uint64, kind in (("decimal", pa.decimal128(20, 0)), ("long", pa.int64())):
        found = read_here(dumps, "wqst", uint64=uint64).schema
        assert {found.field(each).type for each in unsigned} == {kind}


def test_columns_selections_duplicates_and_fingerprints(dumps: Path) -> None:
    found = read_here(dumps, "record", columns="qmgr,record_no", system="SYS1", type="116")
    chosen = smfparse.Selection.of(system="SYS1", type="116")
    wanted = smfparse.open(dumps, chosen).arrow("record", ["qmgr", "record_no"])
    assert found.to_pylist() == wanted.to_pylist() != []
    names = {each.name for each in IDENTITY_COLUMNS}
    assert not names & {*read_here(dumps, "record").column_names}
    assert not names & {*read_here(dumps, "wqst", fingerprints="true").column_names}
    kept = plain(read_here(dumps, "record", keepDuplicates="true", fingerprints="true", **IN_PARTS))
    assert kept == expected(dumps, "record", keep_duplicates=True, fingerprints=True)
    assert len(kept) > len(expected(dumps, "record"))
    assert len({(each["source"], each["dump_start"]) for each in kept}) > 1


def test_the_first_damage_fails_or_all_is_written_to_a_folder(dumps: Path, tmp_path: Path) -> None:
    with pytest.raises(DamageError, match=r"one\.smf: record 3"):
        read_here(dumps, "qist", mode="FAILFAST")
    read_here(dumps, "qist", damageLog=str(tmp_path / "log"))
    logged = pq.read_table(tmp_path / "log")
    data = smfparse.open(dumps)
    data.arrow("qist")
    assert logged.num_rows == len(data.damage) > 10


def test_filters_of_queue_managers_and_systems_leave_records_out(dumps: Path) -> None:
    pytest.importorskip("pyspark.sql.datasource")
    from pyspark.sql.datasource import EqualTo, In, IsNull

    whole = expected(dumps, "record")
    for asked, wanted in (
        (EqualTo(("qmgr",), "QM1"), [each for each in whole if each["qmgr"] == "QM1"]),
        (In(("system",), ("SYS1", "SYS2")), [each for each in whole if each["system"] != "SYS0"]),
        (IsNull(("qmgr",)), whole),
    ):
        reader = reader_of(dumps, table="record", pushdown="true")
        assert list(reader.pushFilters([asked])) == [asked]  # Spark applies it again
        found, places = (
            [(each["source"], each["record_no"]) for each in rows]
            for rows in (plain(read_all(reader)), wanted)
        )
        assert sorted(found) == sorted(places) != []


def test_a_wrong_option_is_named(dumps: Path) -> None:
    wrong: dict[str, dict[str, str]] = {
        "wqst": {"table": "wqts"},
        "no option of the smf source": {"table": "wqst", "tables": "x"},
        "give decimal or long": {"table": "wqst", "uint64": "float"},
        "number of bytes": {"table": "wqst", "partBytes": "0"},
        "option table is missing": {},
    }
    for said, options in wrong.items():
        with pytest.raises(RequestError, match=said):
            reader_of(dumps, **options)


def test_smfparse_does_not_load_spark() -> None:
    texts = [each.read_text("utf-8") for each in Path(smfparse.__file__).parent.rglob("*.py")]
    assert not [each for each in texts if re.search(r"^\s*(import|from) pyspark", each, re.M)]


def read(spark: Any, dumps: Path | str, table: str, **options: object) -> Any:
    found = spark.read.format("smf").option("table", table)
    return found.options(**options).load(str(dumps))


@pytest.mark.long
def test_spark_reads_tables_urls_views_and_filters(
    dumps: Path, spark: Any, storage_port: int
) -> None:
    with serving(storage_port) as storage:
        urls = [storage.put(f"day/{each.name}", each) for each in sorted(dumps.iterdir())]
        folder = urls[0].rpartition("/")[0]
        found = plain(read(spark, folder, "record", **IN_PARTS).toArrow())
        assert sorted({each["source"] for each in found}) == urls
        assert found == expected(folder, "record")
    for table in ("record", "wqst", "damage"):
        found = read(spark, dumps, table, **IN_PARTS)
        assert table == "damage" or found.rdd.getNumPartitions() > 1
        assert plain(found.toArrow()) == expected(dumps, table)
    spark.sql(f"CREATE TEMPORARY VIEW r USING smf OPTIONS (path '{dumps}', table 'record')")
    assert spark.sql("SELECT count(*) FROM r").first()[0] == len(expected(dumps, "record"))
    spark.catalog.dropTempView("r")
    setting = "spark.sql.python.filterPushdown.enabled"
    for asked in ("qmgr = 'QM1'", "system IN ('SYS1', 'SYS2')", "qmgr IS NULL"):
        spark.conf.set(setting, "true")
        pushed = read(spark, dumps, "record", pushdown="true").where(asked).count()
        spark.conf.unset(setting)
        assert pushed == read(spark, dumps, "record").where(asked).count() > 0
    with pytest.raises(Exception, match=r"one\.smf: record 3"):
        read(spark, dumps, "qist", mode="FAILFAST").count()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_stream_counts_each_file_once_also_after_it_failed(
    dumps: Path, spark: Any, tmp_path: Path
) -> None:
    stream, folder = recipe("stream", 25)["stream"], tmp_path / "arriving"
    folder.mkdir()
    target = str(tmp_path / "rows")
    (folder / "one.smf").write_bytes((dumps / "one.smf").read_bytes())
    stream(spark, str(folder), "record", target).awaitTermination()
    (folder / "three.smf").write_text("no SMF file")
    (folder / "two.smf").write_bytes((dumps / "two.smf").read_bytes())
    with pytest.raises(Exception, match="STREAM_FAILED"):
        stream(spark, str(folder), "record", target).awaitTermination()
    (folder / "three.smf").write_bytes((dumps / "one.smf").read_bytes())
    stream(spark, str(folder), "record", target).awaitTermination()
    rows = spark.read.parquet(target)
    files = sorted(folder.iterdir())
    wanted = [row for each in files for row in expected(each, "record", fingerprints=True)]
    assert sorted(map(str, plain(rows.toArrow()))) == sorted(map(str, wanted))
    rows.createOrReplaceTempView("record")  # for the query of docs/scale.md
    spark.sql(statement(COUNTED).replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW"))
    found = numbers(spark.table("counted").toArrow())
    assert found == numbers(smfparse.open(files).arrow("record"))
    assert len(found) < len(wanted)


def numbers(rows: pa.Table) -> list[tuple[str, int]]:
    return sorted((each["source"], each["record_no"]) for each in rows.to_pylist())
