"""The one-screen summary: intervals, findings, and metrics over time.

In: a catalog. Out: a `Summary` and its document. Lines are declarations in `definitions`; what is
wrong comes from `advice`; nothing here opens inputs.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.summarizing.declaration import MEASURES as MEASURES
    from smfparse.summarizing.declaration import Shown as Shown
    from smfparse.summarizing.declaration import lines as lines
    from smfparse.summarizing.declaration import with_metrics as with_metrics
    from smfparse.summarizing.figures import Figures as Figures
    from smfparse.summarizing.figures import HeldLine as HeldLine
    from smfparse.summarizing.figures import figures_of as figures_of
    from smfparse.summarizing.figures import held_lines as held_lines
    from smfparse.summarizing.figures import held_times as held_times
    from smfparse.summarizing.figures import hold as hold
    from smfparse.summarizing.figures import line_queries as line_queries
    from smfparse.summarizing.figures import with_macros as with_macros
    from smfparse.summarizing.printing import SummaryDocument as SummaryDocument
    from smfparse.summarizing.running import Day as Day
    from smfparse.summarizing.running import summarized as summarized
    from smfparse.summarizing.sparks import BLOCKS as BLOCKS
    from smfparse.summarizing.sparks import sparkline as sparkline
    from smfparse.summarizing.spreading import Axis as Axis
    from smfparse.summarizing.spreading import Manager as Manager
    from smfparse.summarizing.spreading import Rows as Rows
    from smfparse.summarizing.spreading import Sums as Sums
    from smfparse.summarizing.spreading import rows_of as rows_of
    from smfparse.summarizing.spreading import rows_query as rows_query
    from smfparse.summarizing.spreading import spread as spread
    from smfparse.summarizing.spreading import summed as summed
    from smfparse.summarizing.timing import Times as Times
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        declaration="MEASURES Shown lines with_metrics",
        figures="Figures HeldLine figures_of held_lines held_times hold line_queries with_macros",
        printing="SummaryDocument",
        running="Day summarized",
        sparks="BLOCKS sparkline",
        spreading="Axis Manager Rows Sums rows_of rows_query spread summed",
        timing="Times",
    )
