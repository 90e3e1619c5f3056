"""Metrics: the meaning of fields together. Views, measures, and the lookup of names.

in    tables by name; views and measures as SQL and TOML in `definitions/`
out   views and their columns; measures; the SQL that makes both, for a connection to run
never decodes a record nor runs a query
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.metrics.describe import Entry as Entry
    from smfparse.metrics.describe import Relation as Relation
    from smfparse.metrics.describe import described as described
    from smfparse.metrics.describe import every_relation as every_relation
    from smfparse.metrics.describe import measures_meant as measures_meant
    from smfparse.metrics.figures import aggregates as aggregates
    from smfparse.metrics.figures import selected as selected
    from smfparse.metrics.figures import with_figures as with_figures
    from smfparse.metrics.measures import AVERAGE as AVERAGE
    from smfparse.metrics.measures import SCHEMA as SCHEMA
    from smfparse.metrics.measures import Measure as Measure
    from smfparse.metrics.measures import Subject as Subject
    from smfparse.metrics.measures import measure_of as measure_of
    from smfparse.metrics.measures import metrics_of as metrics_of
    from smfparse.metrics.measures import over_time as over_time
    from smfparse.metrics.measures import quoted as quoted
    from smfparse.metrics.measures import subject_of as subject_of
    from smfparse.metrics.measures import subjects as subjects
    from smfparse.metrics.measures import way_of as way_of
    from smfparse.metrics.measures import with_overall as with_overall
    from smfparse.metrics.views import View as View
    from smfparse.metrics.views import columns_meant as columns_meant
    from smfparse.metrics.views import columns_of as columns_of
    from smfparse.metrics.views import comments as comments
    from smfparse.metrics.views import named_macros as named_macros
    from smfparse.metrics.views import relations as relations
    from smfparse.metrics.views import title_of as title_of
    from smfparse.metrics.views import view as view
    from smfparse.metrics.views import view_macros as view_macros
    from smfparse.metrics.views import view_names as view_names
    from smfparse.metrics.views import views_script as views_script
    from smfparse.metrics.views import words_in as words_in
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        describe="Entry Relation described every_relation measures_meant",
        figures="aggregates selected with_figures",
        measures=(
            "AVERAGE SCHEMA Measure Subject measure_of metrics_of over_time quoted subject_of "
            "subjects way_of with_overall"
        ),
        views=(
            "View columns_meant columns_of comments named_macros relations title_of view "
            "view_macros view_names views_script words_in"
        ),
    )
