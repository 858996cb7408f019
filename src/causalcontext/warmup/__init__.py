"""Parts of searches on tiny tables, which processes that compile ahead call."""
