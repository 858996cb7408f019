"""Statistics that visit rows."""
