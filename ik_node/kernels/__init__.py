"""Compiled kinematics: arrays in, integers out. The only place that imports Numba."""
