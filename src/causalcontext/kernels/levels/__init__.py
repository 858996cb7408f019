"""Whole levels of the skeleton on moments."""
