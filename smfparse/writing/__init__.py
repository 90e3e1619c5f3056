"""All that `convert` writes: open inputs in; a dataset, files of other tools or a database out.

A target is complete or not there. Nothing is decoded here beyond what the inputs yield, and no
query is run.
"""
