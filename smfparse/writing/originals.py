"""The state of SMF files before they are read: identity, and the check for later changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from smfparse.decoding.fingerprinting import identity
from smfparse.errors import InputError
from smfparse.inputs.sources import SmfFile
from smfparse.places.kinds import Place, Stamp, stamp_of


@dataclass
class Original:
    """The state of an SMF file before it is read."""

    file: SmfFile
    stamp: Stamp

    @cached_property
    def identity(self) -> str:
        """The identity of the file. Raises InputError if the file cannot be read."""
        return identity(self.file.input)

    def check(self) -> None:
        """Raise InputError if the file was changed since its state was recorded."""
        if _stamp(self.file) != self.stamp:
            raise InputError(f"{self.file.name}: changed while it was read; run again")


def originals(files: Iterable[SmfFile]) -> dict[Place, Original]:
    """Return the current states of SMF files, by path."""
    return {each.path: Original(each, _stamp(each)) for each in files}


def _stamp(file: SmfFile) -> Stamp:
    try:
        return stamp_of(file.path)
    except OSError as error:
        raise InputError(f"{file.name}: {error.strerror or error}") from error
