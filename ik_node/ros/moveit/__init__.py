"""The service ~/solve_ik for MoveIt's kinematics plugin."""
