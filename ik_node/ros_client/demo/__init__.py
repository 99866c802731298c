"""A robot of the gallery in motion on the real node."""
