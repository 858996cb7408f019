"""What a search returns: graphs per context, the log of deciding tests, explanations, files."""
