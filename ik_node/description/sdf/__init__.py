"""Readers of SDFormat."""
