"""MJCF: MuJoCo's own format."""
