"""A day in one HTML page, and single panels as drawings.

In: a catalog. Out: lines of HTML or SVG. Panels are declarations in `definitions`; what is wrong
comes from `advice`; nothing here opens inputs, and what is written reaches no network.
"""
