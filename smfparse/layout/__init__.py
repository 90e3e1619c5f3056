"""Declare a control block: its fields in the order of IBM's map, each with a kind.

in    declarations: `block(..., "qistmget" / Count32 * "Message get requests")`
out   a `Block`: parses and builds control blocks, and contains the offset of each column

This package reads no file and declares no block of MQ: the declarations are in `schemas`.
"""
