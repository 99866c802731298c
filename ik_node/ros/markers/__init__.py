"""What rviz2 and Foxglove draw, and the goals dragged there."""
