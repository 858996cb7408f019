"""The commands, once their options have been read."""
