"""What a dataset costs that grows for a year: appends, known inputs, plans of queries, sizes.

    python benchmarks/years.py --days 365 --terabytes 1

Rows are not written: only what is written besides them, by the code that writes it. Each day has an
append an hour (`--appends`), of dumps of 1 GB, and is compacted then. Files, inputs and records are
as many as that many bytes become; of the fingerprints, which take 16 bytes a record, one in
`--sample` is written.

Times are those of the processor, so that other work of the machine does not count.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from smfparse.inputs import Dataset
from smfparse.limits import LIMITS, Limits
from smfparse.store import (
    EARLIER,
    EXACT,
    FORMAT,
    GROWING,
    MANIFEST,
    RECORDS,
    Folder,
    Keys,
    Manifest,
    meets,
    read_head,
    read_manifest,
)
from smfparse.tables import table_names
from smfparse.writing import (
    Written,
    by_day,
    input_keys,
    is_long,
    put_in_place,
    repacked,
    set_apart,
    summed,
    write_last,
    write_new,
)

FIRST = dt.date(2026, 1, 1)
RECORDS_PER_GB = 117_020
"""As in `class3` of docs/performance.md."""


@dataclass(frozen=True)
class Site:
    """What comes in a day.

    appends       how many a day; each of that part of the day
    is_compacted  whether the files of a day are put together behind its last append
    """

    terabytes: float
    appends: int
    queue_managers: int
    sample: int
    is_compacted: bool = True
    limits: Limits = LIMITS

    @property
    def dumps(self) -> int:
        """Dumps an append."""
        return max(1, round(self.terabytes * 1000 / self.appends))

    @property
    def fingerprints(self) -> int:
        """Fingerprints an append that are written."""
        return max(1, round(self.dumps * RECORDS_PER_GB / self.sample))


def places(day: dt.date, site: Site) -> Iterator[tuple[str, str]]:
    """Yield the tables and folders that an append writes a file in."""
    for table in table_names():
        if table in GROWING:
            for number in range(site.queue_managers):
                yield table, f"{table}/date={day}/queue_manager=QM{number:02}"
        elif table != "damage":
            yield table, f"{table}/date={day}"


def added(folder: Folder, number: int, day: dt.date, hour: int, site: Site) -> Manifest:
    """Write fingerprints of an hour; return the manifest of what was added."""
    chance = random.Random(f"{day}{hour}")
    name = f"{RECORDS}/part-{number:05}.bin"
    packed = int(f"{day.year - 1900:04}{day.timetuple().tm_yday:03}", 16)
    data = np.random.default_rng(number).integers(0, 256, (site.fingerprints, 16), np.uint8)
    run = by_day(data.view("S16")[:, 0], np.full(site.fingerprints, packed, np.int32))
    sums = {name: write_new(folder, f"{folder.partial}/{name}", run.fingerprints.tobytes())}
    files: dict[str, list[str]] = {table: [] for table in table_names()}
    for table, place in places(day, site):
        files[table].append(f"{place}/part-{number:05}.parquet")
    every = [each for names in files.values() for each in names]
    sums |= {each: chance.randbytes(32).hex() for each in every}
    return {
        "format": FORMAT,
        "smfparse": "years",
        "inputs": [
            {
                "name": f"/dumps/{day}/SYS{dump % 8}.H{hour:02}.N{dump:03}.smf",
                "bytes": 1_000_000_000 + chance.randrange(1 << 20),
                "identity": chance.randbytes(32).hex(),
                "smfparse": "years",
                "duplicates": 0,
            }
            for dump in range(site.dumps)
        ],
        "selection": None,
        "partitioned": True,
        "types": EXACT,
        "tables": {table: 1000 * len(names) for table, names in files.items()},
        "duplicates": 0,
        "unknown_bytes": {},
        "damage_count": 0,
        "files": files,
        "rows": {each: [1000, str(day), str(day)] for each in every},
        "fingerprints": False,
        "records": {name: len(run.fingerprints)},
        "record_days": {name: run.days},
        "checksums": sums,
        "earlier": [],
        "keys": {},
        "next": number + 1,
    }


def append(folder: Folder, day: dt.date, hour: int, site: Site) -> None:
    """Add an hour to the dataset, as `smfparse convert --append` does but for rows."""
    if not (folder.path / MANIFEST).exists():
        new = added(folder, 0, day, hour, site)
        write_last(folder, new)
        put_in_place(folder, new, frozenset())
        return
    old = read_head(folder.path)
    first, replaced = old["next"], frozenset(old["keys"])
    if is_long(old, site.limits.manifest_files):
        old, first = set_apart(folder, old, first, (), site.limits.merged), first + 1
    new = added(folder, first, day, hour, site)
    check_known(folder.path, read_head(folder.path), new)
    (packed,) = new["record_days"][f"{RECORDS}/part-{first:05}.bin"]
    known = Dataset(folder.path, recent=True).known
    assert known is not None
    known.of_days(frozenset([int(packed, 16)]))
    whole = summed(old, new) | {"next": first + 1}
    whole["records"] = old["records"] | new["records"]
    for key in ("checksums", "record_days"):
        whole[key] = old[key] | new[key]
    write_last(folder, whole)
    put_in_place(folder, whole, replaced)


def compact(folder: Folder, day: dt.date, site: Site) -> None:
    """Put the files of a day together, as `smfparse compact` does but for rows: one a folder.

    The manifest is read twice: to see which files are short, and to write it anew.
    """
    whole = read_manifest(folder.path)
    number = whole["next"]
    gone = {name for name, each in whole["rows"].items() if each[1] == str(day)}
    written = [
        Written(table, f"{place}/part-{number:05}.parquet", 24_000, "0" * 64, [str(day)] * 2)
        for table, place in places(day, site)
    ]
    head = read_head(folder.path)
    manifest, replaced = repacked(
        folder, head, written, frozenset(gone), site.limits.manifest_files
    )
    write_last(folder, manifest)
    put_in_place(folder, manifest, replaced, all_new=True)


def check_known(folder: Path, head: Manifest, new: Manifest) -> None:
    """Look for the inputs of an append among those of the dataset."""
    keys = Keys(folder, head["keys"])
    assert len(keys.among(input_keys(new))) <= len(new["inputs"])  # some are as long as others


@dataclass
class Day:
    """What a day cost: milliseconds of the processor, bytes.

    append   the median of its appends
    compact  what putting the files of the day together costs, besides its rows
    files    files of rows that the dataset has then
    """

    append: float
    head: int
    planning_a_day: float
    compact: float
    files: int


def spent(work: Callable[[], object]) -> float:
    """Return the milliseconds of the processor that something takes."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def has_day(day: str, part: Manifest) -> bool:
    """Whether a part of a manifest may have rows of a day."""
    return meets(part["days"], [day])


def days(folder: Folder, count: int, site: Site) -> Iterator[Day]:
    """Add day after day."""
    for number in range(count):
        day = FIRST + dt.timedelta(number)
        taken = [spent(partial(append, folder, day, hour, site)) for hour in range(site.appends)]
        plan = spent(partial(read_manifest, folder.path, partial(has_day, str(day))))
        size = (folder.path / MANIFEST).stat().st_size
        packing = spent(partial(compact, folder, day, site)) if site.is_compacted else 0
        files = read_head(folder.path)
        count = sum(each["files"] for each in files["earlier"])
        count += sum(map(len, files["files"].values()))
        yield Day(statistics.median(taken), size, plan, packing, count)


def main() -> None:
    """Add a year, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--terabytes", type=float, default=1.0, help="bytes of SMF a day")
    parser.add_argument("--appends", type=int, default=24, help="a day")
    parser.add_argument("--queue-managers", type=int, default=20)
    parser.add_argument("--sample", type=int, default=1000, help="fingerprints: one of so many")
    parser.add_argument("--without-compact", action="store_true")
    asked = parser.parse_args()
    how = asked.appends, asked.queue_managers, asked.sample, not asked.without_compact
    site = Site(asked.terabytes, *how)
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        print("| day | append | plan of a day | compact | smfparse.json, KB | files of rows |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: |")
        found = []
        for number, each in enumerate(days(folder, asked.days, site), 1):
            found.append(each)
            if number in (1, 2, asked.days) or number % 30 == 0:
                times = f"{each.append:.1f} | {each.planning_a_day:.1f} | {each.compact:.0f}"
                print(
                    f"| {number} | {times} | {each.head / 1000:.0f} | {each.files:,} |", flush=True
                )
        print_sums(folder.path, found)


def print_sums(folder: Path, found: Sequence[Day]) -> None:
    """Print what there is at the end, and whether appends became dearer."""
    every = spent(partial(read_manifest, folder))
    head = read_head(folder)
    kept = [*(folder / EARLIER).iterdir()]
    parts = sum(each.stat().st_size for each in kept)
    files = sum(each["files"] for each in head["earlier"])
    print(f"\nfiles of rows named: {files:,}; files of the manifest: {len(kept):,}")
    print(f"all of the manifest: {parts / 1e6:.1f} MB, read whole in {every:.0f} ms of CPU")
    first, second, last = found[0].append, found[1].append, found[-1].append
    print(
        f"append, last day against the first: {last / first:.2f}; the second: {last / second:.2f}"
    )
    week = min(7, len(found))
    ends = (found[:week], found[-week:])
    before, after = (statistics.median(each.append for each in some) for some in ends)
    print(f"append, last {week} days against first {week}: {after / before:.2f}")


if __name__ == "__main__":
    main()
