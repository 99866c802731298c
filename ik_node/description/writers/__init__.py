"""Model graphs to files in our own form."""
