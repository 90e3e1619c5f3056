"""Declare a control block: its fields in order, each with a kind, as IBM maps them.

in    declarations: `block(..., "qistmget" / Count32 * "Message get requests")`
out   a `Block`: it parses and builds one block, and contains the place of each column in its bytes

This package reads no file and names no block of MQ: the blocks are in `schemas`.
"""
