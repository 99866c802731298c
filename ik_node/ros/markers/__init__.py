"""Markers for rviz2 and Foxglove, and interactive markers for goals."""
