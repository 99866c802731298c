"""Loops written in a file of their own, one dialect a file."""
