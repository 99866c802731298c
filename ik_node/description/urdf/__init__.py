"""Readers of URDF."""
