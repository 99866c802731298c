"""Loops written inside a robot description, one dialect a file."""
