"""Two sets of records side by side. In: two `Inputs`. Out: what each call costs on either side.

Figures are declared in `measures.toml` and summed up by `compare.sql`; nothing here decodes, opens
an input or writes an output.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.comparing.changes import COLUMNS as COLUMNS
    from smfparse.comparing.changes import NAMES as NAMES
    from smfparse.comparing.changes import TOLERANCE as TOLERANCE
    from smfparse.comparing.changes import check_by as check_by
    from smfparse.comparing.changes import compared as compared
    from smfparse.comparing.measures import MEASURES as MEASURES
    from smfparse.comparing.measures import ROW_KINDS as ROW_KINDS
    from smfparse.comparing.measures import Measure as Measure
    from smfparse.comparing.measures import load_measures as load_measures
    from smfparse.comparing.printing import ComparisonDocument as ComparisonDocument
    from smfparse.comparing.printing import explain as explain
    from smfparse.comparing.printing import side_by_side as side_by_side
    from smfparse.comparing.sides import OF_QUEUES as OF_QUEUES
    from smfparse.comparing.sides import Rename as Rename
    from smfparse.comparing.sides import Side as Side
    from smfparse.comparing.sides import absent as absent
    from smfparse.comparing.sides import left_out as left_out
    from smfparse.comparing.sides import measured as measured
    from smfparse.comparing.sides import measured_apart as measured_apart
    from smfparse.comparing.sides import spanning as spanning
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        changes="COLUMNS NAMES TOLERANCE check_by compared",
        measures="MEASURES ROW_KINDS Measure load_measures",
        printing="ComparisonDocument explain side_by_side",
        sides="OF_QUEUES Rename Side absent left_out measured measured_apart spanning",
    )
