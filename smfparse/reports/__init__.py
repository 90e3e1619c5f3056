"""Reports. In: a name and a catalog. Out: rows, their declaration, and how figures come about.

A report is `definitions/<name>.sql` and `<name>.toml`; nothing here decodes, opens an input or
writes an output, and DuckDB is loaded only by the catalog.
"""
