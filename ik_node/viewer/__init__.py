"""The browser page with a robot, its goals, joints and solver, served by viser."""
