"""Motions of key points for the command `motion`: files, mapping to links, and results."""
