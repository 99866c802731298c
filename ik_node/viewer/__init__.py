"""The browser page: a robot, its goals to drag, its joints and its solver, served by viser."""
