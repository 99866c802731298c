"""Maps of the positions and orientations that a link can reach."""
