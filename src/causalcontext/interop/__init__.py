"""Doors for users of other libraries."""
