"""Readers of loops in files beside a description, one format per module."""
