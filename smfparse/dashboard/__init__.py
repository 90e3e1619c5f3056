"""A day in one HTML page, and single panels as drawings.

In: a catalog. Out: lines of HTML or SVG. Panels are declarations in `definitions`; what is wrong
comes from `advice`; nothing here opens inputs, and what is written reaches no network.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.dashboard.declaration import Panel as Panel
    from smfparse.dashboard.declaration import panel_named as panel_named
    from smfparse.dashboard.declaration import panels as panels
    from smfparse.dashboard.gathering import Earlier as Earlier
    from smfparse.dashboard.gathering import Gathered as Gathered
    from smfparse.dashboard.gathering import against as against
    from smfparse.dashboard.gathering import gathered as gathered
    from smfparse.dashboard.gathering import gathered_panels as gathered_panels
    from smfparse.dashboard.page import page_lines as page_lines
    from smfparse.dashboard.plotting import panel_list as panel_list
    from smfparse.dashboard.plotting import plot_lines as plot_lines
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        declaration="Panel panel_named panels",
        gathering="Earlier Gathered against gathered gathered_panels",
        page="page_lines",
        plotting="panel_list plot_lines",
    )
