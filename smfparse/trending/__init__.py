"""Trends over days: the usual range, growth, time until a limit, new and missing objects.

In: a catalog of several days. Out: a `Trend` per queue manager, and a document of all trends. The
figures are the lines of `summarizing`, hour by hour. This package opens no inputs.
"""
