"""Pictures of the gallery's robots for the documentation."""
