"""The results of a search: graphs per context, the log of deciding tests, explanations, files."""
