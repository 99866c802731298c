"""The panels beside the 3D view."""
