"""Simulated SMF data: of an MQ site with its work and the problems in it, or of every record kind.

An estate is declared in TOML: queue managers, queues, channels and applications. Messages flow
through it interval by interval, and every record counts the same flows. So the figures belong
together, and the incidents that were planted are known. The declarations of schemas/ are read the
other way here, from values to bytes: no file is read, and nothing that decodes is used.
"""
