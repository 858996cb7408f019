"""The constraint-based search: which questions to ask next, and how to orient what is left."""
