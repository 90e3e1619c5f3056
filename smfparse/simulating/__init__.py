"""Simulated SMF data: records of an MQ site with its work and problems, or records of every kind.

An estate is an MQ site declared in TOML: queue managers, queues, channels, applications, incidents.
The flow of messages is simulated interval by interval, and all records count this flow, so their
values are consistent. The declarations of schemas/ convert values to bytes. This package reads no
SMF file and uses no decoder.
"""
