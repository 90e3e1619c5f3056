"""The package of this name; its face is yet to come."""
