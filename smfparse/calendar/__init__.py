"""The calendar: the intervals of each queue manager, with gaps, restarts and missing records.

in    a catalog, for the intervals of statistics, channel initiator and accounting
out   for each queue manager: clock, intervals, completeness of the data; for each interval: kind,
      and gap, restart or missing records before the interval; for rows of any length: their
      distribution over intervals; SQL macros with the same rules
"""
