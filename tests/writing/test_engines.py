"""What engines write and read is what one process does: by an executor, or as a source of Spark."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse.decoding.arrow import plain_schema, schema
from smfparse.decoding.dictionary import IDENTITY_COLUMNS, with_fingerprints
from smfparse.errors import DamageError, InputError, RequestError
from smfparse.limits import Limits
from smfparse.reading import reader
from smfparse.store.manifest import VIEWS
from smfparse.writing.compacting import compact_dataset
from tests.support import command
from tests.support.builders import UTC_NOON, foreign_record, put
from tests.support.datasets import every_table, read_manifest, with_views
from tests.support.engines import COUNTED, recipe, statement
from tests.support.mixed_records import TABLES, many
from tests.support.paths import SMF
from tests.support.searching import search
from tests.support.storage import serving

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SMALL = Limits(chunk_bytes=8192, max_spanned=4096, least_unit=1, most_task=60_000)
NAMES = [each.name for each in IDENTITY_COLUMNS]
Paths: TypeAlias = list[Path]
OF_FILES = ("files", "checksums", "records", "rows", "record_days", "next")
"""What of a manifest depends on how many files were written."""


def header(hour: int) -> bytes:
    return foreign_record(2, UTC_NOON.replace(tzinfo=None, hour=hour))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """Three files: two has records of one, and a dump of its own twice; the last is damaged."""
    folder = tmp_path_factory.mktemp("dumps")
    one, two, three = ([b"".join(each.pieces()) for each in many(200, seed)] for seed in (1, 2, 3))
    parts = {
        "one": [header(1), *one],
        "two": [header(2), *one[100:150], *(2 * [header(3), *two])],
        "three": [*three[:100], random.Random(1).randbytes(300), *three[100:]],
    }
    return [put(folder / f"{name}.smf", *records) for name, records in parts.items()]


@pytest.fixture(scope="module")
def one(inputs: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.fixture(params=("threads", "processes", "spark"))
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as found:
            yield found
    else:
        yield recipe("SparkExecutor")["SparkExecutor"](request.getfixturevalue("spark"))


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
def test_any_writes_the_same(executor: Executor, inputs: Paths, one: Path, tmp_path: Path) -> None:
    """Any executor, as one process."""
    smfparse.convert(inputs, tmp_path / "other", executor, limits=SMALL)
    assert_same(tmp_path / "other", one)
    assert sum(each["duplicates"] for each in read_manifest(one)["inputs"]) > 200
    assert len(list((tmp_path / "other" / "record").iterdir())) > 4


@pytest.mark.long
def test_an_executor_that_works_twice_adds_each_row_once(inputs: Paths, tmp_path: Path) -> None:
    for name, executor in (("one", None), ("other", Twice())):
        smfparse.convert(inputs[:1], tmp_path / name, limits=SMALL)
        smfparse.convert(inputs, tmp_path / name, executor, append=True, limits=SMALL)
    assert_same(tmp_path / "other", tmp_path / "one")


def test_workers_elsewhere_read_all_records_of_sound_files_by_the_paths_of_the_user(
    inputs: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        monkeypatch.chdir(tmp_path)
        executor.submit(len, ()).result()
        monkeypatch.chdir(inputs[0].parent)
        monkeypatch.delattr(reader, "read_chunks")  # this process reads no record
        found = smfparse.convert("one.smf", tmp_path / "tables", executor, limits=SMALL)
    assert found.arrow("record").num_rows > 150
    assert set(found.arrow("record")["source"].to_pylist()) == {"one.smf"}


def test_damage_and_failures_leave_nothing(inputs: Paths, tmp_path: Path) -> None:
    target = tmp_path / "tables"
    with pytest.raises(DamageError, match=r"one\.smf: record 3"):
        smfparse.convert(inputs, target, Twice(), strict=True, limits=SMALL)
    with pytest.raises(InputError) as raised:
        smfparse.convert(inputs, target, Failing(), limits=SMALL)
    assert str(raised.value) == "the executor failed: RuntimeError: no worker is left"
    assert not target.exists()
    asked = ("convert", inputs[0], "--to", target, "--executor")
    for name in ("nothing", "no.such:module", "os:no_such", ":x"):
        assert "PYTHONPATH" in command.run(*asked, name, code=2).output, name
    command.run(*asked, "concurrent.futures:ThreadPoolExecutor", code=4)  # blocks are damaged


# The source `smf` of Spark, mostly read without Spark ---------------------------------------------

IN_PARTS = {"partBytes": "60000"}


@pytest.fixture(scope="module")
def dumps(inputs: Paths) -> Path:
    return inputs[0].parent


def expected(dumps: Path | str, table: str, **options: Any) -> list[dict[str, Any]]:
    return smfparse.open(dumps, **options).arrow(table).to_pylist()


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Return rows with whole numbers as such: Spark has decimals for the largest."""
    kinds = [pa.int64() if kind == pa.decimal128(20, 0) else kind for kind in rows.schema.types]
    whole = rows.cast(pa.schema([*zip(rows.column_names, kinds, strict=True)]), safe=False)
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
    wanted = every_table(smfparse.open(dumps).inputs, (*TABLES, "damage"))
    for table, rows in wanted.items():
        assert plain(read_here(dumps, table, **IN_PARTS)) == rows.to_pylist(), table
    unsigned = [each.name for each in schema("wqst") if each.type == pa.uint64()]
    for uint64, kind in (("decimal", pa.decimal128(20, 0)), ("long", pa.int64())):
        found = read_here(dumps, "wqst", uint64=uint64).schema
        assert {found.field(each).type for each in unsigned} == {kind}


def test_columns_selections_duplicates_and_fingerprints(dumps: Path) -> None:
    found = read_here(dumps, "record", columns="qmgr,record_no", system="SYS1", type="116")
    chosen = smfparse.Selection.of(system="SYS1", type="116")
    wanted = smfparse.open(dumps, chosen).arrow("record", ["qmgr", "record_no"])
    assert found.to_pylist() == wanted.to_pylist() != []
    assert not {*NAMES} & {*read_here(dumps, "record").column_names}
    assert not {*NAMES} & {*read_here(dumps, "wqst", fingerprints="true").column_names}
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
        "unknown option of the smf source": {"table": "wqst", "tables": "x"},
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
    return spark.read.format("smf").option("table", table).options(**options).load(str(dumps))


@pytest.mark.long
def test_spark_reads_tables_urls_views_filters(dumps: Path, spark: Any, storage_port: int) -> None:
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
def test_a_stream_that_failed_counts_files_once(dumps: Path, spark: Any, tmp_path: Path) -> None:
    folder, target = tmp_path / "arriving", str(tmp_path / "rows")
    folder.mkdir()

    def stream() -> None:
        recipe("stream", 25)["stream"](spark, str(folder), "record", target).awaitTermination()

    shutil.copy(dumps / "one.smf", folder)
    stream()
    (folder / "three.smf").write_text("no SMF file")
    shutil.copy(dumps / "two.smf", folder)
    with pytest.raises(Exception, match="STREAM_FAILED"):
        stream()
    shutil.copy(dumps / "one.smf", folder / "three.smf")
    stream()
    rows = spark.read.parquet(target)
    files = sorted(folder.iterdir())
    wanted = [row for each in files for row in expected(each, "record", fingerprints=True)]
    assert sorted(map(str, plain(rows.toArrow()))) == sorted(map(str, wanted))
    rows.createOrReplaceTempView("record")  # for the query of docs/dataset.md
    spark.sql(statement(COUNTED).replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW"))
    found, counted = (
        sorted((each["source"], each["record_no"]) for each in rows.to_pylist())
        for rows in (spark.table("counted").toArrow(), smfparse.open(files).arrow("record"))
    )
    assert found == counted
    assert len(found) < len(wanted)


# Dumps that are read apart: the query of docs/dataset.md finds the rows of one process ---------

RECORDS = [b"".join(each.pieces()) for each in many(60, 7)]
HEADERS = [foreign_record(2, UTC_NOON.replace(tzinfo=None), each) for each in ("SYS1", "SYS2")]
OF_OTHERS = {
    *("counted_at", "utc_offset", "interval_start", "interval_seconds"),
    *("task_source", "task_record_no", "task_record_offset"),
}
"""Columns of what a row knows of other records."""


def put_all(folder: Path, dumps: list[list[bytes]]) -> list[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return [put(folder / f"{number:02}.smf", *each) for number, each in enumerate(dumps)]


def sorted_rows(rows: pa.Table, names: list[str]) -> list[str]:
    return sorted(map(str, rows.select(names).to_pylist()))


def own_rows(table: str, rows: pa.Table) -> list[str]:
    """Return what rows know without other records."""
    return sorted_rows(rows, [each for each in plain_schema(table).names if each not in OF_OTHERS])


def counted_rows(tables: dict[str, list[pa.Table]], *names: str) -> dict[str, pa.Table]:
    """Return what the query of the docs leaves of tables that were read apart."""
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for table, parts in tables.items():
            database.register(table, pa.concat_tables(parts))
        database.execute(statement(COUNTED))
        joined = statement("JOIN counted")
        return {each: database.sql(joined.replace("wqst", each)).to_arrow_table() for each in names}


def dumps_of(chance: random.Random) -> list[list[bytes]]:
    """Return files of overlapping dumps; records may be in a dump several times."""
    found: list[list[bytes]] = []
    for _ in range(chance.randint(2, 4)):
        records: list[bytes] = []
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(RECORDS))
            records += [chance.choice(HEADERS)] if chance.random() < 0.8 else []
            records += RECORDS[start : start + chance.randint(1, 25)] * chance.choice([1, 1, 2])
        found.append(records)
    return found


@given(chance=st.randoms(use_true_random=False))
@search(5)
def test_the_query_finds_the_records_of_one_process(tmp_path: Path, chance: random.Random) -> None:
    paths = put_all(tmp_path / "in", dumps_of(chance))
    how: dict[str, Any] = chance.choice([{}, {"jobs": 3, "limits": SMALL}])
    how |= {"fingerprints": True, "keep_duplicates": chance.random() < 0.5}
    apart = [smfparse.open(each, **how).arrow("record") for each in paths]
    found = counted_rows({"record": apart}, "record")["record"]
    assert own_rows("record", found) == own_rows("record", smfparse.open(paths).arrow("record"))


def test_a_dump_starts_at_its_header_also_where_that_is_left_out(tmp_path: Path) -> None:
    header, records = HEADERS[0], RECORDS
    made = [*records[:2], header, *records[2:50], header, header, *records[50:]]
    path = put(tmp_path / "a.smf", *made)
    expected = [1] * 2 + [3] * 49 + [52] + [53] * (len(records) - 49)
    kept: dict[str, Any] = {"fingerprints": True, "keep_duplicates": True}
    for more in ({}, {"jobs": 3, "limits": SMALL}):
        whole = smfparse.open(path, **kept, **more).arrow("record", NAMES)
        assert whole["dump_start"].to_pylist() == expected
        less = smfparse.open(path, fingerprints=True, **more).arrow("record", ["record_no", *NAMES])
        assert less.num_rows < whole.num_rows
        for each in less.to_pylist():
            assert each["dump_start"] == expected[each["record_no"] - 1]
    part = smfparse.Part(len(records[0]), None, None)
    blind = smfparse.decode_part(path, part, {"record": NAMES})
    rows = [row for _, batch in blind for row in batch.to_pylist()]
    assert {row["dump_start"] for row in rows} == {None}
    assert [row["fingerprint"] for row in rows] == whole["fingerprint"].to_pylist()[1:]


def test_datasets_that_were_made_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that grew and shrank, and one of signed types in folders."""
    records = [
        *([HEADERS[0], *RECORDS[:30]], [HEADERS[0], *RECORDS[10:40]]),
        [HEADERS[1], *RECORDS[20:], *RECORDS[30:40]],
    ]
    paths, folders = put_all(tmp_path / "in", records), [tmp_path / "0", tmp_path / "1"]
    smfparse.convert(paths[0], folders[0], fingerprints=True)
    smfparse.convert(paths[1], folders[0], append=True)
    assert compact_dataset(folders[0], Limits(group_rows=20)).before > 1
    more = ("--fingerprints", "--types", "signed", "--partition")
    command.run("convert", paths[2], "--to", folders[1], *more, code=4)  # blocks are damaged
    tables: dict[str, list[pa.Table]] = {"record": [], "wqst": [], "wtas": []}
    for folder in folders:
        with with_views(folder, monkeypatch, *tables) as database:
            for table, parts in tables.items():
                names = plain_schema(table, with_fingerprints(table)).names
                shown = ", ".join(f'"{each}"' for each in names)
                parts.append(database.sql(f"SELECT {shown} FROM {table}").to_arrow_table())
    found = counted_rows(tables, *tables)
    once = smfparse.open(paths)
    for table in tables:
        assert found[table].num_rows < sum(each.num_rows for each in tables[table])
        assert own_rows(table, found[table]) == own_rows(table, once.arrow(table))
    together = smfparse.open(folders)
    names = ["source", "record_no", *NAMES]
    query = f"SELECT {', '.join(names)} FROM record"
    apart = [smfparse.open(each, fingerprints=True) for each in (paths[:2], paths[2])]
    expected = sorted_rows(pa.concat_tables(each.arrow("record") for each in apart), names)
    for rows in (
        together.arrow("record"),
        *(together.sql(query, safe=safe) for safe in (True, False)),
        together.polars("record").select(names).collect().to_arrow(),
    ):
        assert sorted_rows(rows, names) == expected
    assert '"fingerprint": "Fingerprint, the same' in (folders[0] / "columns.json").read_text()


def test_they_are_there_only_where_they_are_asked_for(whole_dataset: Path, tmp_path: Path) -> None:
    assert "fingerprint" not in (whole_dataset / VIEWS).read_text(encoding="utf-8")
    data = smfparse.open(whole_dataset)
    assert not {*NAMES} & {*data.arrow("record").column_names}
    assert data.arrow("record", NAMES)["fingerprint"].null_count == len(data.arrow("record"))
    with pytest.raises(RequestError, match="written without fingerprints=True"):
        smfparse.convert(SMF, whole_dataset, append=True, fingerprints=True)
    asked = ("convert", SMF, "--to", tmp_path / "x", "--format", "csv")
    refused = " ".join(command.run(*asked, "--fingerprints", code=2).output.split())
    assert "--columns source,record_no,fingerprint,dump_start" in refused
    command.run(*asked, "--columns", "record_no,fingerprint", code=0)
    number, found = (tmp_path / "x" / "record.csv").read_text().splitlines()[1].split(",")
    (row,) = smfparse.open(SMF).arrow("record", ["record_no", "fingerprint"])[:1].to_pylist()
    assert (int(number), found) == (row["record_no"], row["fingerprint"])
