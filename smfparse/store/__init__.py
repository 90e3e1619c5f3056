"""Where results are kept: rows and a target in, whole Parquet files and manifests on disk out.

A dataset is a folder with a manifest; one process at a time writes to it, and what it replaces
stays until the new is complete. Nothing is decoded here, and no input is opened.
"""
