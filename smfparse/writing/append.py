"""Add SMF files to a dataset: its rows are the same as after one conversion of all files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smfparse.decoding.dictionary import table_names
from smfparse.decoding.duplicates import Duplicates
from smfparse.errors import RequestError
from smfparse.inputs.opening import Inputs, called_apart
from smfparse.inputs.sources import Dataset, SmfFile, Source, with_others
from smfparse.reading.places import Place
from smfparse.store.hive import Layout
from smfparse.store.manifest import EXACT, Manifest, has_fingerprints, has_manifest
from smfparse.store.targets import PARTIAL
from smfparse.store.writer import Writer
from smfparse.writing.dataset import (
    alone_in,
    check_free,
    form_of,
    make,
    refuse_url,
    write_whole,
)
from smfparse.writing.making import Making, Original, originals

if TYPE_CHECKING:
    from concurrent.futures import Executor


@dataclass(frozen=True)
class Appended:
    """The outcome of adding files to a dataset.

    manifest  new properties of the dataset
    rows      number of rows added to each table
    known     names of skipped inputs, which the dataset already contains
    renamed   old and new names of inputs whose names were already used
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
    """Add SMF files to the dataset in `folder`, or create the dataset.

    If another process is writing to the dataset, wait for its end. A file that the dataset already
    contains is skipped, even if its name differs. A record that the dataset already contains is
    counted as a duplicate.

    types                as in `write_dataset`; None: the types of the dataset
    partition, executor  as in `write_dataset`

    Raises RequestError if the dataset was made from datasets or with another selection, InputError
    if the dataset cannot be read, and the errors of `write_dataset`.
    """
    refuse_url(folder)
    check_free(folder, force=True)
    limits = inputs.options.limits
    with alone_in(folder, {PARTIAL}.__contains__, limits, waits=True) as writer:
        if has_manifest(folder):
            old = writer.head()
            _check_alike(inputs, folder, old, partition, types)
            writer.check_recent()
            return _add(inputs, Dataset(folder), old, writer, executor)
        check_free(folder, force=False)
        manifest = write_whole(inputs, writer, partition, types or EXACT, executor)
        return Appended(manifest, manifest["tables"])


def _add(
    inputs: Inputs, there: Dataset, old: Manifest, writer: Writer, executor: Executor | None
) -> Appended:
    files = [each for each in inputs.sources if isinstance(each, SmfFile)]
    read = originals(files)
    known = {path for path, each in read.items() if _is_known(each, writer)}
    new = [each for each in files if each.path not in known]
    renamed = called_apart([each.name for each in new], _Names(writer))
    sources = _called(new, renamed, there)
    skipped = tuple(each.name for each in files if each.path in known)
    runs = writer.runs()
    writer.clear()
    if not sources:
        return Appended(old, dict.fromkeys(table_names(), 0), skipped)
    made = Making(
        writer.folder,
        Layout.of(old),
        old["next"],
        read,
        inputs.options.limits,
        form_of(old["types"], fingerprints=has_fingerprints(old)),
        executor,
        old=old,
        kept=runs,
        is_known=lambda key: writer.has("damage", source=key[0], byte=key[1], reason=key[2]),
    )
    manifest, rows = make(replace(inputs, sources=sources), writer, made)
    return Appended(manifest, rows, skipped, tuple(renamed.items()))


def _is_known(each: Original, writer: Writer) -> bool:
    size = each.stamp.size
    return writer.has("input", bytes=size) and writer.has(
        "input", bytes=size, identity=each.identity
    )


class _Names:
    """The used names: those of the inputs of a dataset, and of the inputs that are being added."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._new = writer, set[str]()

    def __contains__(self, name: object) -> bool:
        return name in self._new or self._writer.has("input", name=name)

    def add(self, name: str) -> None:
        """Record that a name is used."""
        self._new.add(name)


def _called(new: list[SmfFile], names: dict[str, str], there: Dataset) -> list[Source]:
    """Return new files under their new names; their records are compared with the dataset's."""
    called = [
        replace(each, input=replace(each.input, name=names.get(each.name, each.name)))
        for each in new
    ]
    earlier = Duplicates([each.input for each in called], there.known)
    once = [replace(each, duplicates=each.duplicates and earlier) for each in called]
    return with_others(once, there)


def _check_alike(
    inputs: Inputs, folder: Place, old: Manifest, partition: bool, types: str | None
) -> None:
    others = [each.name for each in inputs.sources if not isinstance(each, SmfFile)]
    if others:
        raise RequestError(
            f"{others[0]}: a dataset cannot be appended; give the SMF files of the dataset"
        )
    if not old["has_records"]:
        raise RequestError(
            f"{folder}: cannot append to a dataset that was made from datasets: it keeps no record "
            "fingerprints; convert the SMF files again"
        )
    if old["selection"] != (str(inputs.selection) or None):
        raise RequestError(
            f"{folder}: written with another selection ({old['selection'] or 'everything'}); "
            "append=True needs the same selection",
            "append",
        )
    _check_form(inputs, folder, old, partition, types)


def _check_form(
    inputs: Inputs, folder: Place, old: Manifest, partition: bool, types: str | None
) -> None:
    if types not in (None, old["types"]):
        raise RequestError(
            f"{folder}: written with {old['types']} types; append without types=, "
            "because a dataset keeps its types",
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
