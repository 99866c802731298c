"""The constraints and joints of one solve, as arrays for the kernels."""
