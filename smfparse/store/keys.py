"""Lookup keys of a dataset, as numbers: names, sizes and identities of inputs.

A key is 16 bytes of a BLAKE2 of what it stands for. Two things have the same one with a chance of
1 in 10**38; who looks for such a pair on purpose has to try 10**19 of them. Keys are in files that
ascend, each much longer than the next, so that a dataset of many years has few of them and what is
added rewrites little. They are not read but searched, so no checksum is made of them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from smfparse.decoding import FINGERPRINT, Fingerprints, read_run
from smfparse.errors import InputError
from smfparse.places import Place, size_at
from smfparse.store.plain import plain_file
from smfparse.vectors import Bools


def key_of(kind: str, *values: object) -> bytes:
    """Return the key of something of a kind that is told apart by these values."""
    text = "\0".join([kind, *map(str, values)])
    return hashlib.blake2b(text.encode(), digest_size=FINGERPRINT.itemsize).digest()


def as_run(keys: Iterable[bytes]) -> Fingerprints:
    """Return keys as they are written: they ascend, each once."""
    found: Fingerprints = np.unique(np.array([*keys], FINGERPRINT))
    return found


class Keys:
    """The keys of a dataset.

    folder  that of the dataset
    files   the files that have keys: path to how many
    """

    def __init__(self, folder: Place, files: Mapping[str, int]) -> None:
        self._runs = [_run(folder, name, count) for name, count in files.items()]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and key in self.among([key])

    def among(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return those of some keys that are here: for many of them much faster than one by one."""
        asked = [*keys]
        found = np.zeros(len(asked), np.bool_)
        for run in self._runs:
            found |= _are_in(run, np.array(asked, FINGERPRINT))
        return {key for key, is_here in zip(asked, found.tolist(), strict=True) if is_here}


def _run(folder: Place, name: str, count: int) -> Fingerprints:
    file = plain_file(folder, name)
    if size_at(file) != count * FINGERPRINT.itemsize:
        raise InputError(f"{file}: a file of the dataset is not whole; convert again")
    return read_run(file)


def _are_in(run: Fingerprints, asked: Fingerprints) -> Bools:
    if not len(run):
        return np.zeros(len(asked), np.bool_)
    places = np.minimum(np.searchsorted(run, asked), len(run) - 1)
    found: Bools = run[places] == asked
    return found
