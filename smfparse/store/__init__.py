"""Storage of results. In: rows and a target. Out: complete Parquet files and manifests on disk.

A dataset is a folder with a manifest. One process at a time writes to it, and old files stay until
the new ones are complete. This package decodes nothing and opens no input.
"""
