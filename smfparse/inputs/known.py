"""The fingerprints of the records of datasets; only the days needed are read."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from smfparse.decoding import FINGERPRINT, Fingerprints, Known, read_run
from smfparse.errors import InputError
from smfparse.inputs.stored import check_bytes
from smfparse.places import Place, size_at
from smfparse.store import Manifest, day_name, meets, plain_file, read_head, read_parts


@dataclass(frozen=True)
class KnownRecords:
    """The records of a dataset."""

    folder: Place

    def of_days(self, days: frozenset[int]) -> list[Fingerprints]:
        """Return the fingerprints of records with these dates, and maybe others, in runs.

        Raises InputError where a file is not as it was written.
        """
        names = frozenset(map(day_name, days))
        head = read_head(self.folder)
        every = [*read_parts(self.folder, head["earlier"], partial(_has_records, names)), head]
        return [run for part in every for run in self._runs(part, names)]

    def _runs(self, part: Manifest, days: Container[str]) -> Iterator[Fingerprints]:
        for name, count in (part["records"] or {}).items():
            own: Mapping[str, int] | None = part["record_days"].get(name)
            if own is None or any(day in days for day in own):
                run = self._whole(name, count, part["checksums"][name])
                yield from [run] if own is None else _days_of(run, own, days)

    def _whole(self, name: str, count: int, expected: str) -> Fingerprints:
        """Return the fingerprints of a file, which is as it was written."""
        path = plain_file(self.folder, name)
        if size_at(path) != count * FINGERPRINT.itemsize:
            raise InputError(
                f"{path}: a file of the dataset is not whole; its records cannot be "
                "distinguished from others; convert again"
            )
        check_bytes(path, expected)
        return read_run(path)


@dataclass(frozen=True)
class KnownOfSeveral:
    """The records of several datasets."""

    datasets: Sequence[Known]

    def of_days(self, days: frozenset[int]) -> list[Fingerprints]:
        """Return the fingerprints of all of them."""
        return [run for each in self.datasets for run in each.of_days(days)]


def _has_records(days: frozenset[str], part: Manifest) -> bool:
    """Whether a part of a manifest may have records of some days."""
    return meets(part["record_days"], days)


def _days_of(
    run: Fingerprints, own: Mapping[str, int], days: Container[str]
) -> Iterator[Fingerprints]:
    """Yield those of some days: in a file they are day after day, and ascend in each."""
    start = 0
    for day, count in own.items():
        if day in days:
            yield run[start : start + count]
        start += count
