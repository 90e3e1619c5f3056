"""The calendar: the intervals of each queue manager, with gaps, restarts and missing records.

in    a catalog: the intervals of statistics, channel initiator and accounting
out   for each queue manager its clock, its intervals, what kind each is and what is before it
      (gap, restart, missing records), and whether its data is complete; how rows of any length are
      spread over intervals; the SQL macros of the same rules
never a figure of MQ
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.calendar.coverage import COVERAGE as COVERAGE
    from smfparse.calendar.coverage import Coverage as Coverage
    from smfparse.calendar.coverage import coverage_of as coverage_of
    from smfparse.calendar.coverage import coverage_query as coverage_query
    from smfparse.calendar.coverage import length_text as length_text
    from smfparse.calendar.intervals import CALENDAR as CALENDAR
    from smfparse.calendar.intervals import SECOND_US as SECOND_US
    from smfparse.calendar.intervals import Calendar as Calendar
    from smfparse.calendar.intervals import calendar_macros as calendar_macros
    from smfparse.calendar.intervals import calendar_query as calendar_query
    from smfparse.calendar.intervals import calendars_of as calendars_of
    from smfparse.calendar.intervals import ends_of as ends_of
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        coverage="COVERAGE Coverage coverage_of coverage_query length_text",
        intervals=(
            "CALENDAR SECOND_US Calendar calendar_macros calendar_query calendars_of ends_of"
        ),
    )
