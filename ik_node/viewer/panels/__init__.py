"""The panels beside the picture: what they show, and what can be asked for there."""
