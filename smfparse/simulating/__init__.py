"""Simulated SMF data: of an MQ site with its work and problems, or of every kind of record.

An estate is an MQ site declared in TOML: queue managers, queues, channels and applications. The
flow of messages is simulated interval by interval, and all records count the same flow. So all
values are consistent, and the declared incidents are known. The declarations of schemas/ are used
in the other direction, from values to bytes. This package reads no SMF file and uses no decoder.
"""
