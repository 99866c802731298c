"""The input and output tables of the command `batch`."""
