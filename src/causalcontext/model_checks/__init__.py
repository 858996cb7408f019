"""Does the model behind a search hold? Checks of residuals after every search, and what their
failure endangers.
"""
