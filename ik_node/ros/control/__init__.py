"""Commands for the robot's controllers."""
