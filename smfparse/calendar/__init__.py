"""The calendar: the intervals of each queue manager, with gaps, restarts and missing records.

in    a catalog: the intervals of statistics, channel initiator and accounting
out   for each queue manager its clock, its intervals, what kind each is and what is before it
      (gap, restart, missing records), and whether its data is complete; how rows of any length are
      spread over intervals; the SQL macros of the same rules
never a figure of MQ
"""
