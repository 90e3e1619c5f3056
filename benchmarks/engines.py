"""The same tables from every engine and place, and what each costs.

Makes an SMF file of several systems with records of class 3 in several records (116/2), a second
dump that repeats some of the first, and bytes between that are none. It is read by one process, by
two, by an executor (Spark), by the source of Spark, and from S3, which moto serves here, plain
and gzip. All tables of each are compared, row for row, with those of one process; then CPU seconds
per GB are printed, beside one process as well, of all processes of a way, Spark's JVM among them;
and the most memory that one of its processes of Python had. Linux only.

    .venv/bin/python benchmarks/engines.py --size 200MB
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import importlib.util
import logging
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from inputs import SMFPARSE

import smfparse
from smfparse.decoding.dictionary import table_names

ONE = "one process"
_SOME = 3
"""Of so many tasks one has a 116/2."""
_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER: processes whose parents have ended become those of this one."""
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
_S3 = {
    "AWS_ACCESS_KEY_ID": "benchmark",
    "AWS_SECRET_ACCESS_KEY": "benchmark",
    "AWS_REGION": "us-east-1",
}


def made(place: Path, size: int) -> Path:
    """Write the input: two systems, then a part of them again, with damage between."""
    parts = []
    for seed in (1, 2):
        part = place / f"{seed}.smf"
        command = [SMFPARSE, "generate", part, "--size", f"{size // 4 // 1000}KB", "--seed", seed]
        options = ["--qmgr", f"QM{seed:02}", "--system", f"SYS{seed}", "--queues", 20]
        subprocess.run([*map(str, [*command, *options])], check=True)
        parts.append(b"".join(_with_more_queues(part.read_bytes())))
    whole = place / "dump.smf"
    whole.write_bytes(b"".join([*parts, random.Random(1).randbytes(999), *parts]))
    return whole


def _with_more_queues(data: bytes) -> Iterator[bytes]:
    """Yield the records of a file; behind some of a task (116/1) one that goes on with it (116/2).

    It has the task's triplets but that of WTAS, so its queues are those of the task once more.
    """
    at = count = 0
    while at < len(data):
        record = data[at : at + int.from_bytes(data[at : at + 2])]
        yield record
        at += len(record)
        if record[2] == 0 and record[5] == 116 and record[22:24] == b"\0\1":
            count += 1
            if count % _SOME == 0:
                words = record[28:44] + record[52:60] + bytes(8)
                yield record[:22] + b"\0\2" + record[24:28] + words + record[60:]


# Ways ---------------------------------------------------------------------------------------------


def _one(source: str, target: str) -> None:
    smfparse.convert(source, target)


def _two(source: str, target: str) -> None:
    smfparse.convert(source, target, jobs=2)


def _spark_executor(source: str, target: str) -> None:
    session = _session()

    class SparkExecutor(ThreadPoolExecutor):
        def submit(self, work: Callable[..., Any], /, *call: Any) -> Any:
            tasks = session.sparkContext.range(1, numSlices=1)
            return super().submit(lambda: tasks.map(lambda _: work(*call)).first())

    smfparse.convert(source, target, SparkExecutor(2), jobs=2)
    session.stop()


def _spark_source(source: str, target: str) -> None:
    """Have Spark write what its source reads, a table after the other."""
    session = _session()
    for table in table_names():
        rows = session.read.format("smf").option("table", table).load(source)
        rows.write.parquet(f"{target}/{table}")
    session.stop()


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    asked = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    asked = asked.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "3g")
    asked = asked.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    return asked.config("spark.sql.session.timeZone", "UTC").getOrCreate()


WAYS: dict[str, tuple[Callable[[str, str], None], str | None]] = {
    ONE: (_one, None),
    "two processes": (_two, None),
    "Spark, executor": (_spark_executor, "pyspark"),
    "Spark, source": (_spark_source, "pyspark"),
    "S3": (_one, "moto"),
    "S3, gzip": (_one, "moto"),
    "S3, source of Spark": (_spark_source, "pyspark"),
}
"""Each way: what does it, and what has to be installed for that."""
_S3_NAMES = {
    "S3": "s3://dumps/dump.smf",
    "S3, gzip": "s3://dumps/dump.smf.gz",
    "S3, source of Spark": "s3://dumps/dump.smf",
}
"""What the ways read that do not read the file on the disk."""


# What comes of them -------------------------------------------------------------------------------


def differences(expected: Path, found: Path) -> list[str]:
    """Return the tables whose rows are not the same."""
    here, other = smfparse.open(expected), None
    if (found / "smfparse.db").exists():
        other = smfparse.open(found)
    wrong = []
    for table in table_names():
        wanted = here.arrow(table)
        rows = _arrow(found, table, wanted.schema) if other is None else other.arrow(table)
        if _named(rows) != _named(wanted):
            wrong.append(table)
    return wrong


def _arrow(folder: Path, table: str, schema: pa.Schema) -> pa.Table:
    """Return what Spark wrote, in the types of smfparse."""
    files = sorted((folder / table).glob("part-*.parquet"))  # named in the order of partitions
    rows = pa.concat_tables([pq.read_table(each) for each in files])
    return rows.cast(schema, safe=False)


def _named(rows: pa.Table) -> pa.Table:
    """Return rows with a source that does not say where a file is, or that it is packed."""
    for name in {"source", "task_source"} & {*rows.column_names}:
        names = rows[name].combine_chunks().dictionary_encode()
        plain = [
            each and Path(each).name.removesuffix(".gz") for each in names.dictionary.to_pylist()
        ]
        column = pa.array(plain, pa.string()).take(names.indices)
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


@contextmanager
def storage(dump: Path) -> Iterator[None]:
    """Serve S3 with the input, plain and packed, in a process that is not counted."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(_S3 | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"})
    import boto3

    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    client.create_bucket(Bucket="dumps")
    client.put_object(Bucket="dumps", Key=dump.name, Body=dump.read_bytes())
    packed = gzip.compress(dump.read_bytes(), 1)
    client.put_object(Bucket="dumps", Key=f"{dump.name}.gz", Body=packed)
    try:
        yield
    finally:
        server.stop()


@dataclass
class Cost:
    """What a way took: CPU seconds, seconds, and MB of the largest process of Python."""

    cpu: float
    clock: float
    memory: float


@dataclass
class Memory:
    """The most memory that each process below this one had, as far as it was seen.

    peaks  KB by number and start of the process
    """

    peaks: dict[str, int] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Look every tenth of a second, until it has ended."""
        while not self.ended.wait(0.1):
            below = [os.getpid()]
            for pid in below:
                with suppress(OSError):  # ended by now
                    tasks = Path(f"/proc/{pid}/task").glob("*/children")
                    below += [int(each) for task in tasks for each in task.read_text().split()]
            for pid in below[1:]:
                with suppress(OSError):
                    self._look(pid)

    def _look(self, pid: int) -> None:
        peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
        if peak and "java" not in os.readlink(f"/proc/{pid}/exe"):
            self.peaks[str(pid)] = int(peak[1])


def measured(way: str, source: str, target: Path) -> Cost:
    """Go a way in processes of its own."""
    ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    memory = Memory()
    watching = threading.Thread(target=memory.watch)
    watching.start()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, __file__, "--way", way, source, str(target)], check=True)
    with suppress(ChildProcessError):
        while True:  # Spark's JVM ends after the process that started it
            os.wait()
    after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    memory.ended.set()
    watching.join()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, clock, max(memory.peaks.values(), default=0) / 1000)


def run(size: int, ways: list[str]) -> dict[str, list[str]]:
    """Print what each way costs; return the tables in which it differs from one process."""
    wrong: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dump = made(folder, size)
        gigabytes = dump.stat().st_size / 10**9
        print(f"{dump.stat().st_size / 10**6:.0f} MB\n")
        print("| way | CPU s/GB | beside one process | s | MB | rows |\n|---|---|---|---|---|---|")
        first = 0.0
        with storage(dump):
            for way in ways:
                target = folder / way.replace(" ", "-")
                cost = measured(way, _S3_NAMES.get(way, str(dump)), target)
                first = first or cost.cpu
                wrong[way] = [] if way == ONE else differences(folder / "one-process", target)
                said = ", ".join(wrong[way]) or "equal"
                took = f"{cost.cpu / gigabytes:.1f} | {cost.cpu / first:.2f} | {cost.clock:.0f}"
                print(f"| {way} | {took} | {cost.memory:.0f} | {said} |", flush=True)
                if way != ONE:
                    shutil.rmtree(target)
    return wrong


def _size(text: str) -> int:
    return int(text[:-2]) * _UNITS[text[-2:].upper()]


def installed(way: str) -> bool:
    """Whether what a way needs is installed."""
    needed = WAYS[way][1]
    return needed is None or importlib.util.find_spec(needed) is not None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--size", type=_size, default=_size("1GB"), help="size of the input: 200MB")
    parser.add_argument("--only", help="ways, separated by semicolons; one process is always one")
    parser.add_argument("--way", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        way, source, target = asked.way
        WAYS[way][0](source, target)
        return
    chosen = [ONE, *asked.only.split(";")] if asked.only else list(WAYS)
    wrong = run(asked.size, [each for each in chosen if installed(each)])
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
