"""Readers of MJCF, MuJoCo's format."""
