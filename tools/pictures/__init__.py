"""Pictures of our own robots for the documentation."""
