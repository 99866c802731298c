"""The 3D view of the page: robot, marks, handles, floor, lights and pointer events."""
