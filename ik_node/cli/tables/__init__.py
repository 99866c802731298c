"""The tables of `batch`: goals from a file, answers into one."""
