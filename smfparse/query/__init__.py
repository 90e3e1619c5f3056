"""Inputs as SQL and polars see them: open inputs and a query in, rows as Arrow or polars out.

Only what a query needs is decoded. Nothing is printed here but at the prompt, and nothing is kept:
what is spooled goes with its query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog as Catalog
    from smfparse.query.connecting import Connection as Connection
    from smfparse.query.connecting import connected as connected
    from smfparse.query.lazy import lazy_frame as lazy_frame
    from smfparse.query.projection import Slicing as Slicing
    from smfparse.query.prompt import Console as Console
    from smfparse.query.prompt import Shell as Shell
    from smfparse.query.prompt import View as View
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        catalog="Catalog",
        connecting="Connection connected",
        lazy="lazy_frame",
        projection="Slicing",
        prompt="Console Shell View",
    )
