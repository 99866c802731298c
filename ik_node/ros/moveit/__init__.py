"""The service that MoveIt's kinematics plugin calls."""
