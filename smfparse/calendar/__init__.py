"""The calendar: the intervals of each queue manager, with gaps, restarts and missing records.

in    a catalog, for the intervals of statistics, channel initiator and accounting
out   for each queue manager: its clock, its intervals with the kind of each and the gap, restart or
      missing records before it, and whether its data is complete; the distribution of rows of any
      length over intervals; SQL macros with the same rules
"""
