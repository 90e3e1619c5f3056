"""Capacity of a site: the planners of `planning` with what its own SMF shows.

In: a planner, what a user gives, and a catalog or none. Out: an `Answer` for each queue manager,
and their document. Formulas are in `planning`, what is measured in `definitions`; nothing here
opens inputs.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.capacity.answering import MEASURED as MEASURED
    from smfparse.capacity.answering import Answer as Answer
    from smfparse.capacity.answering import answer as answer
    from smfparse.capacity.answering import answers as answers
    from smfparse.capacity.measuring import measured_rows as measured_rows
    from smfparse.capacity.measuring import measuring_query as measuring_query
    from smfparse.capacity.measuring import measuring_sql as measuring_sql
    from smfparse.capacity.printing import CapacityDocument as CapacityDocument
    from smfparse.capacity.printing import explained as explained
    from smfparse.capacity.printing import option as option
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        answering="MEASURED Answer answer answers",
        measuring="measured_rows measuring_query measuring_sql",
        printing="CapacityDocument explained option",
    )
