"""Where files are: on this machine, or in object storage by a URL.

A place is a `Path`, which is read as ever, or a `Url`, which has the words of a path that the rest
of the house uses. In come texts that users name; out go bytes, sizes and stamps.
"""
