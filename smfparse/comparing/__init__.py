"""Two sets of records side by side. In: two `Inputs`. Out: what each call costs on either side.

Figures are declared in `measures.toml` and summed up by `compare.sql`; nothing here decodes, opens
an input or writes an output.
"""
