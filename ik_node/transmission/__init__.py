"""Position, velocity and effort between actuators and a joint space, through closed loops."""
