"""Generated pages and notebooks of the documentation site."""
