"""The ranges of a transmission, and their picture."""
