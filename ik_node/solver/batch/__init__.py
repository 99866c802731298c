"""The solution of many problems, or of a path, in one call."""
