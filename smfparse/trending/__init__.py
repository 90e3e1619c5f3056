"""Trends over days: the usual range, growth, time until a limit, new and missing objects.

In: a catalog of several days. Out: a `Trend` of each queue manager, and their document. The
figures are the lines of `summarizing`, hour by hour; nothing here opens inputs.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.trending.printing import TrendDocument as TrendDocument
    from smfparse.trending.running import Trend as Trend
    from smfparse.trending.running import trended as trended
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        printing="TrendDocument",
        running="Trend trended",
    )
