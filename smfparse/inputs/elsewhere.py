"""Files in object storage or HDFS that a pattern or a folder stands for."""

from __future__ import annotations

from collections.abc import Iterator

import smfparse.store as store
from smfparse.errors import Damage, DamageLog, InputError
from smfparse.places import Place, Url


def matches(pattern: Url) -> list[Url] | None:
    """Return what fits a pattern, in order; None: something has just this name.

    Raises OSError, also where there is no such bucket.
    """
    if pattern.exists():
        return None
    top = Url(pattern.scheme, pattern.authority)
    top.stat()
    return sorted(top.glob(pattern.key), key=str)


def files_below(folder: Url, damage: DamageLog, target: Place | None) -> Iterator[Url]:
    """Yield the files below a folder but the hidden ones, those in `target`, and in datasets.

    Of a dataset it is noted that it is left out. Raises InputError where the list does not come.
    """
    try:
        found = [each for each in folder.rglob() if not each.was_folder]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from error
    datasets = [each.parents[0] for each in found if each.name == store.MANIFEST]
    inner = [each for each in datasets if each != folder and not _is_hidden(each, folder)]
    for each in inner:
        if each != target:
            reason = "a dataset; name it as a separate input; skipped"
            damage.add(Damage(str(each), 0, None, reason))
    left_out = {*inner, target}
    for each in found:
        if not _is_hidden(each, folder) and left_out.isdisjoint(each.parents):
            yield each


def _is_hidden(place: Url, folder: Url) -> bool:
    return any(part.startswith(".") for part in place.relative_to(folder).parts)
