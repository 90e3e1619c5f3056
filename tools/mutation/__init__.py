"""Mutation testing of the SQL and of the Python whose mistakes would look like right figures.

in    the project's files; a seed, a number of mutants, rooms
out   which mutants the tests of their rooms notice
never changes a file of the project: every mutant is tried in a private copy

`rooms` says what is changed and which tests have to notice, `sql` and `python` find the changes,
`trial` runs tests on a copy, with `plugin` inside pytest.
"""
