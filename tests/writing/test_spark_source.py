"""Spark reads SMF files by the source `smf`, and has the rows that smfparse has."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smfparse
from smfparse.tables import IDENTITY_COLUMNS, schema
from tests.support.builders import UTC_NOON, foreign_record
from tests.support.engines import COUNTED, recipe, statement
from tests.support.mixed_records import TABLES, many
from tests.support.storage import serving

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of several systems, with damage, tasks, and records that are in both."""
    folder = tmp_path_factory.mktemp("dumps")
    begin = foreign_record(2, UTC_NOON.replace(tzinfo=None))
    records = [b"".join(each.pieces()) for each in many(400, 1)]
    middle = random.Random(1).randbytes(300)
    (folder / "one.smf").write_bytes(b"".join([begin, *records[:300]]))
    (folder / "two.smf").write_bytes(b"".join([begin, *records[200:], middle, *records[:10]]))
    return folder


def read(spark: Any, dumps: Path | str, table: str, **options: object) -> Any:
    found = spark.read.format("smf").option("table", table)
    return found.options(**options).load(str(dumps))


def expected(dumps: Path | str, table: str, **options: Any) -> list[dict[str, Any]]:
    return smfparse.open(dumps, **options).arrow(table).to_pylist()


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Return rows with whole numbers as such: Spark has decimals for the largest."""
    whole = [
        (field.name, pa.int64() if field.type == pa.decimal128(20, 0) else field.type)
        for field in rows.schema
    ]
    return rows.cast(pa.schema(whole), safe=False).to_pylist()


@pytest.mark.parametrize("table", [*TABLES, "damage"])
def test_rows_are_those_of_one_process(table: str, dumps: Path, spark: Any) -> None:
    found = read(spark, dumps, table, partBytes=60_000)
    assert table == "damage" or found.rdd.getNumPartitions() > 1
    assert plain(found.toArrow()) == expected(dumps, table)


def test_numbers_are_decimals_or_long(dumps: Path, spark: Any) -> None:
    unsigned = [each.name for each in schema("wqst") if each.type == pa.uint64()]
    for uint64, name in (("decimal", "decimal(20,0)"), ("long", "bigint")):
        types = dict(read(spark, dumps, "wqst", uint64=uint64).dtypes)
        assert {types[each] for each in unsigned} == {name}


def test_columns_and_selections(dumps: Path, spark: Any) -> None:
    found = read(spark, dumps, "record", columns="qmgr,record_no", system="SYS1", type="116")
    chosen = smfparse.Selection.of(system="SYS1", type="116")
    wanted = smfparse.open(dumps, chosen).arrow("record", ["qmgr", "record_no"])
    assert found.toArrow().to_pylist() == wanted.to_pylist() != []


def test_duplicates_are_kept_if_asked_for(dumps: Path, spark: Any) -> None:
    kept = read(spark, dumps, "record", keepDuplicates="true").count()
    assert kept == len(expected(dumps, "record", keep_duplicates=True))
    assert kept > len(expected(dumps, "record"))


def test_fingerprints_are_columns_of_record_if_asked_for(dumps: Path, spark: Any) -> None:
    names = {each.name for each in IDENTITY_COLUMNS}
    assert not names & {*read(spark, dumps, "record").columns}
    assert not names & {*read(spark, dumps, "wqst", fingerprints="true").columns}
    how = {"keepDuplicates": "true", "fingerprints": "true", "partBytes": 60_000}
    found = plain(read(spark, dumps, "record", **how).toArrow())
    assert found == expected(dumps, "record", keep_duplicates=True, fingerprints=True)
    assert len({(each["source"], each["dump_start"]) for each in found}) > 1


def test_rows_of_a_url(dumps: Path, spark: Any, storage_port: int) -> None:
    with serving(storage_port) as storage:
        for each in dumps.iterdir():
            url = storage.put(f"day/{each.name}", each).rpartition("/")[0]
        found = plain(read(spark, url, "record", partBytes=60_000).toArrow())
        kept = {each["source"] for each in found}
        assert kept == {f"{url}/one.smf", f"{url}/two.smf"}
        assert found == expected(url, "record")


def test_a_view_of_sql(dumps: Path, spark: Any) -> None:
    spark.sql(f"CREATE TEMPORARY VIEW r USING smf OPTIONS (path '{dumps}', table 'record')")
    try:
        assert spark.sql("SELECT count(*) FROM r").first()[0] == len(expected(dumps, "record"))
    finally:
        spark.catalog.dropTempView("r")


def test_the_first_damage_fails_or_all_is_written_to_a_folder(
    dumps: Path, spark: Any, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"one\.smf: record 3"):
        read(spark, dumps, "qist", mode="FAILFAST").count()
    read(spark, dumps, "qist", damageLog=str(tmp_path / "log")).toArrow()
    logged = pq.read_table(tmp_path / "log")
    assert logged.num_rows > 10
    data = smfparse.open(dumps)
    data.arrow("qist")
    assert logged.num_rows == len(data.damage)


@pytest.mark.parametrize("asked", ["qmgr = 'QM1'", "system IN ('SYS1', 'SYS2')", "qmgr IS NULL"])
def test_filters_that_are_pushed_down_give_the_same(asked: str, dumps: Path, spark: Any) -> None:
    setting = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(setting, "true")
    try:
        pushed = read(spark, dumps, "record", pushdown="true").where(asked).count()
    finally:
        spark.conf.unset(setting)
    assert pushed == read(spark, dumps, "record").where(asked).count() > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"table": "wqts"}, "wqst"),
        ({"table": "wqst", "tables": "x"}, "no option of the smf source"),
        ({"table": "wqst", "uint64": "float"}, "give decimal or long"),
        ({"table": "wqst", "partBytes": "0"}, "number of bytes"),
        ({}, "option table is missing"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named(
    options: dict[str, str], said: str, dumps: Path, spark: Any
) -> None:
    with pytest.raises(Exception, match=said):
        spark.read.format("smf").options(**options).load(str(dumps))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_stream_of_files_counts_each_once_also_after_it_failed(
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
    assert counted(spark, rows) == numbers(smfparse.open(files).arrow("record"))
    assert len(counted(spark, rows)) < len(wanted)


def counted(spark: Any, rows: Any) -> list[tuple[str, int]]:
    """Return the records that the query of docs/scale.md finds."""
    rows.createOrReplaceTempView("record")
    spark.sql(statement(COUNTED).replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW"))
    return numbers(spark.table("counted").toArrow())


def numbers(rows: pa.Table) -> list[tuple[str, int]]:
    return sorted((each["source"], each["record_no"]) for each in rows.to_pylist())


def test_smfparse_does_not_load_spark() -> None:
    code = (
        "import sys, smfparse; smfparse.convert, smfparse.open; assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
