"""Where files are: on this machine, or in object storage by a URL.

A place is a `Path`, which is read as ever, or a `Url`, which has the words of a path that the rest
of the house uses. In come texts that users name; out go bytes, sizes and stamps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.places.kinds import SCHEMES as SCHEMES
    from smfparse.places.kinds import Place as Place
    from smfparse.places.kinds import Stamp as Stamp
    from smfparse.places.kinds import is_url as is_url
    from smfparse.places.kinds import place_of as place_of
    from smfparse.places.kinds import size_at as size_at
    from smfparse.places.kinds import stamp_of as stamp_of
    from smfparse.places.objects import BrokenError as BrokenError
    from smfparse.places.objects import are_open as are_open
    from smfparse.places.settings import s3_place as s3_place
    from smfparse.places.url import ObjectFile as ObjectFile
    from smfparse.places.url import Url as Url
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        kinds="SCHEMES Place Stamp is_url place_of size_at stamp_of",
        objects="BrokenError are_open",
        settings="s3_place",
        url="ObjectFile Url",
    )
