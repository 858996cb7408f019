"""Searches over orders of variables."""
