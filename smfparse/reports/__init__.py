"""Reports. In: the name of a report and a catalog. Out: its rows, declaration and formulas.

A report is declared in `definitions/<name>.toml` and `<name>.sql`. This package decodes nothing,
opens no input and writes no output. Only the catalog loads DuckDB.
"""
