"""Storage of results. In: rows and a target. Out: complete Parquet files and manifests on disk.

A dataset is a folder with a manifest. Only one process writes to it at a time, and old files are
not removed before the new files are complete. This package decodes nothing and opens no input.
"""
