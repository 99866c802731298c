"""Goal poses: how they arrive, in which frame, and how they are followed."""
