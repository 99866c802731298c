"""Plans in the joint space, which become trajectories of the motors."""
