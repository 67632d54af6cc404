"""Queries: named questions to the store, one module per noun. Each is a function of a `Database` that returns a frame.

SQL counts, numpy arranges; no thresholds and no advice here. The first argument is supplied by `Fetch`.
"""
