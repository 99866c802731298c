"""What is in space: robot, marks, handles, floor and light, and what a pointer does there."""
