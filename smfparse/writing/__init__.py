"""All output of `convert`. In: open inputs. Out: a dataset, files of other tools or a database.

A target appears complete or not at all. This package decodes only through the inputs, and runs no
query.
"""
