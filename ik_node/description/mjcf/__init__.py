"""MJCF: MuJoCo's own format, read here or by its compiler."""
