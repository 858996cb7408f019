"""The numbers by which results are read and compared, each with its reason."""

COMPARED_AT_ONCE = 3
"""Pairs of contexts that a search compares at its end, two at a time: three contexts.

Comparing two takes about a tenth of a search by scores, and a tenth to a third of one by tests
(`python benchmarks/reading.py`): at the double, a search in four contexts would take half as long
again; at one, a file of a result with three contexts would keep no claims unless `changes()` was
asked before.
"""
MOST_COMPARED_CONTEXTS = 10
"""Contexts of which all pairs are compared with another engine, or told in a report.

The double would be 190 comparisons, each of a tenth of a search; at half, `second_opinion()` of six
contexts would leave `changes()` to compare them.
"""
MOST_FOR_SECOND_OPINION = 60
"""Variables of a table that a second engine may search: beyond, it takes longer than a question
should (`SECOND_SECONDS` in `diagnostics.settings` ends it)."""
