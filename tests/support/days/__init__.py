"""Days of queue managers, built from the layout facts: the second builder of data for advice.

It shares no code and no numbers with `smfparse.simulating`. `sites` declares a queue manager,
`model` works out its intervals, `records` writes these as SMF records. What is planted is a list
of `Fault` and `Field`.
"""
