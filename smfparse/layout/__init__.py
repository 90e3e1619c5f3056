"""Declare a control block: its fields in order, each with a kind, as IBM maps them.

in    declarations: `block(..., "qistmget" / Count32 * "Message get requests")`
out   a `Block`: parses and builds one block, and knows where each table column lies in its bytes
never reads a file, and knows no block of MQ: those are in `schemas`
"""
