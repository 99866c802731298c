"""Many goals and paths in one call."""
