"""Reports. In: the name of a report and a catalog. Out: its rows, declaration and formulas.

A report is `definitions/<name>.sql` and `<name>.toml`. This package decodes nothing, opens no input
and writes no output. Only the catalog loads DuckDB.
"""
