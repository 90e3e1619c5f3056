"""Simulated SMF data: of an MQ site with its work and problems, or of every kind of record.

An estate is declared in TOML: queue managers, queues, channels and applications. Messages flow
through it interval by interval, and every record counts the same flows. So all values are
consistent, and the declared incidents are known. The declarations of schemas/ are used in the other
direction, from values to bytes. This package reads no SMF file and uses no decoder.
"""
