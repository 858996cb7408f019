"""What can be said about a table before a search."""
