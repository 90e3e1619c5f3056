"""SMF files added to a dataset: the rows of one that was made of all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smfparse.decoding import Duplicates
from smfparse.errors import RequestError
from smfparse.inputs import Dataset, Inputs, SmfFile, Source, called_apart, with_others
from smfparse.places import Place
from smfparse.store import (
    EXACT,
    MANIFEST,
    PARTIAL,
    AnyFolder,
    Keys,
    Layout,
    Manifest,
    has_fingerprints,
    key_of,
)
from smfparse.tables import table_names
from smfparse.writing.dataset import alone_in, check_free, form_of, make, write_whole
from smfparse.writing.making import KnownDamage, Making, damage_keys
from smfparse.writing.manifests import DAMAGED, INPUT, NAME, SIZE
from smfparse.writing.originals import Original, originals
from smfparse.writing.placing import clear

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True)
class Appended:
    """The outcome of adding files to a dataset.

    manifest  the head of that of the dataset, as it is now
    rows      how many were added to each table
    known     inputs that it has already, which were skipped
    renamed   inputs whose name another one has, and their names in the dataset
    """

    manifest: Manifest
    rows: dict[str, int]
    known: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def append_dataset(
    inputs: Inputs,
    folder: Place,
    *,
    partition: bool = False,
    types: str | None = None,
    executor: Executor | None = None,
) -> Appended:
    """Add SMF files to the dataset in `folder`, or make it where there is none.

    Another one that writes there is waited for. A file that the dataset has is skipped, whatever
    its name. A record that it has is a duplicate, as if the dataset's inputs had been named before
    these.

    types     as in `write_dataset`; None: those that the dataset has
    executor  as in `write_dataset`

    Raises RequestError where a dataset cannot be added to, as it was made of a dataset or of
    another selection, InputError where it cannot be read, and what `write_dataset` raises.
    """
    check_free(folder, force=True)
    limits = inputs.options.limits
    with alone_in(folder, {PARTIAL}.__contains__, limits, waits=True) as place:
        if (folder / MANIFEST).exists():
            there = Dataset(folder, recent=True)
            _check_alike(inputs, there, partition, types)
            return _add(inputs, there, place, executor)
        check_free(folder, force=False)
        manifest = write_whole(inputs, place, partition, types or EXACT, executor)
        return Appended(manifest, manifest["tables"])


def _add(inputs: Inputs, there: Dataset, folder: AnyFolder, executor: Executor | None) -> Appended:
    """Add SMF files to a dataset."""
    old = there.manifest
    files = [each for each in inputs.sources if isinstance(each, SmfFile)]
    read, keys = originals(files), Keys(there.path, old["keys"])
    known = _known(read, old, keys)
    new = [each for each in files if each.path not in known]
    renamed = called_apart([each.name for each in new], _taken(new, there, keys))
    sources = _called(new, renamed, there)
    skipped = tuple(each.name for each in files if each.path in known)
    clear(folder)
    if not sources:
        return Appended(old, dict.fromkeys(table_names(), 0), skipped)
    damage = KnownDamage(damage_keys(there.lost), lambda each: key_of(DAMAGED, *each) in keys)
    limits, first = inputs.options.limits, old["next"]
    form = form_of(old["types"], fingerprints=has_fingerprints(old))
    made = Making(folder, Layout.of(old), first, read, limits, form, old, damage, executor)
    manifest, rows = make(replace(inputs, sources=sources), made)
    return Appended(manifest, rows, skipped, tuple(renamed.items()))


def _taken(new: list[SmfFile], there: Dataset, keys: Keys) -> _Names:
    """Return the names of the inputs of a dataset, as far as new files may have them."""
    earlier = keys.among(key_of(NAME, each.name) for each in new)
    known = {each.name for each in new if key_of(NAME, each.name) in earlier}
    free = {each.name for each in new} - known
    return _Names({*there.smf_files, *known}, free, keys)


@dataclass(frozen=True)
class _Names:
    """The names of the inputs of a dataset, of which the earlier ones are keys.

    free  names that no earlier input has
    """

    recent: set[str]
    free: set[str]
    keys: Keys

    def __contains__(self, name: object) -> bool:
        return name in self.recent or (name not in self.free and key_of(NAME, name) in self.keys)

    def add(self, name: str) -> None:
        """Take one more."""
        self.recent.add(name)


def _known(read: dict[Place, Original], old: Manifest, keys: Keys) -> set[Place]:
    """Return the files that a dataset has; those of another size need not be read."""
    sizes = keys.among(key_of(SIZE, each.stamp.size) for each in read.values())
    return {
        path
        for path, each in read.items()
        if each.is_one_of(old["inputs"]) or _is_earlier_input(each, keys, sizes)
    }


def _is_earlier_input(each: Original, keys: Keys, sizes: set[bytes]) -> bool:
    """Whether a file is among the inputs that are keys; these have some sizes."""
    size = each.stamp.size
    return key_of(SIZE, size) in sizes and key_of(INPUT, size, each.identity) in keys


def _called(new: list[SmfFile], names: dict[str, str], there: Dataset) -> list[Source]:
    """Return files under their names in a dataset, whose records come before theirs."""
    called = [
        replace(each, input=replace(each.input, name=names.get(each.name, each.name)))
        for each in new
    ]
    earlier = Duplicates([each.input for each in called], there.known)
    once = [replace(each, duplicates=each.duplicates and earlier) for each in called]
    return with_others(once, Dataset(there.path))


def _check_alike(inputs: Inputs, there: Dataset, partition: bool, types: str | None) -> None:
    """Raise RequestError where the request does not fit the dataset.

    And InputError where not all of that is there.
    """
    folder, old = there.path, there.manifest
    others = [each.name for each in inputs.sources if not isinstance(each, SmfFile)]
    if others:
        raise RequestError(
            f"{others[0]}: a dataset cannot be appended; give the SMF files that it was made from"
        )
    if old["records"] is None:
        raise RequestError(
            f"{folder}: cannot append to a dataset that was made from datasets: it keeps no record "
            "fingerprints; convert the SMF files again"
        )
    if old["selection"] != (str(inputs.selection) or None):
        raise RequestError(
            f"{folder}: written with another selection ({old['selection'] or 'everything'}); "
            "append=True needs the same one",
            "append",
        )
    _check_form(inputs, there, partition, types)
    for table in table_names():
        there.files(table)


def _check_form(inputs: Inputs, there: Dataset, partition: bool, types: str | None) -> None:
    """Raise RequestError where columns or folders are asked for that the dataset has not."""
    folder, old = there.path, there.manifest
    if types not in (None, old["types"]):
        raise RequestError(
            f"{folder}: written with {old['types']} types; append without types, which stay",
            "types",
        )
    if inputs.options.fingerprints and not has_fingerprints(old):
        raise RequestError(
            f"{folder}: written without fingerprints=True; append without it, or convert the SMF "
            "files again",
            "fingerprints",
        )
    if partition and not old["partitioned"]:
        raise RequestError(
            f"{folder}: written without partition=True; append without it", "partition"
        )
