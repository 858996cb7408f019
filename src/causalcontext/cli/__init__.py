"""What the command line does, once its options have been read."""
