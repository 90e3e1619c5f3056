"""Places of files: on this machine, or in object storage by a URL.

In: paths and URLs as texts. Out: bytes, sizes and stamps. A place is a `Path`, or a `Url` with the
same methods.
"""
