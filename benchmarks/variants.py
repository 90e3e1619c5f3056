"""Read the same dump in every form in which files arrive: what each costs against RDWs.

A generated class 3 file is converted to each framing, and packed in each way, and all of it is
decoded by one process, in turn and in rounds. What is shown is processor time, the medians of the
rounds: of looking for the records alone, and of decoding every table, against the same of the RDW
file. docs/performance.md has the results.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

import inputs
from show import machine, table

from smfparse.decoding.arrow import wanted_tables
from smfparse.decoding.dictionary import decoded_tables
from smfparse.errors import DamageLog
from smfparse.inputs.opening import open_inputs
from smfparse.reading.reader import read_chunks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.variants import BY_NAME, PACKINGS, read_rdw

FRAMINGS = ("rdw", "rdw-unspanned", "bdw", "length", "ftp-block", "ftp-record", "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="100MB", help="of the RDW file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        files = made(Path(temporary), asked.size)
        print(machine())
        header = ("file", "MB", "records", "all tables")
        print("\n".join(table(header, measured(files, asked.rounds), asked.markdown)))


def made(folder: Path, size: str) -> dict[str, Path]:
    """Write the dump in every form; return the name of each, and where it is."""
    plain = inputs.make("class3", inputs.parse_size(size), folder).smf
    records = read_rdw(plain.read_bytes())
    found = {"rdw": plain}
    for name in FRAMINGS[1:]:
        found[name] = folder / name
        found[name].write_bytes(BY_NAME[name].write(records).data)
    for packing, pack in PACKINGS.items():
        found[f"rdw, {packing}"] = folder / packing
        found[f"rdw, {packing}"].write_bytes(pack(plain.read_bytes()))
    return found


def measured(files: dict[str, Path], rounds: int) -> list[tuple[str, ...]]:
    """Return a row of ratios for each file."""
    jobs: tuple[Callable[[Path], None], ...] = (find_records, decode_all)
    seconds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name, path in files.items():
            for number, job in enumerate(jobs):
                start = time.process_time()
                job(path)
                seconds[name, number].append(time.process_time() - start)
    taken = {key: median(each) for key, each in seconds.items()}
    return [
        (
            name,
            f"{path.stat().st_size / 1e6:.1f}",
            *(f"{taken[name, number] / taken['rdw', number]:.2f}" for number in range(len(jobs))),
        )
        for name, path in files.items()
    ]


def find_records(path: Path) -> None:
    """Find the records of a file, and join them."""
    for _ in read_chunks(path, DamageLog()):
        pass


def decode_all(path: Path) -> None:
    """Decode every table of a file."""
    for _ in open_inputs([path]).batches(wanted_tables(decoded_tables())):
        pass


if __name__ == "__main__":
    main()
