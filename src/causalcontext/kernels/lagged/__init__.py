"""Local models of a lagged table: parent sets by sweeps, slopes that change by patterns of contexts."""
