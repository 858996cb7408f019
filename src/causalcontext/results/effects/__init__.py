"""What a change of one variable does to another, in every context."""
