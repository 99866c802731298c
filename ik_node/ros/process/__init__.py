"""The node's process and executor: signals, memory, clocks, names in use."""
