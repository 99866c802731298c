"""Conversion between messages and numbers, and the names of topics and frames."""
