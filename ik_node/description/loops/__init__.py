"""Readers of loops that are declared in a URDF, one notation per file."""
