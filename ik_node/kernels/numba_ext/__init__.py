"""What the kernels need beyond public Numba."""
