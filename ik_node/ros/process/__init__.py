"""Process and executor of the node: signals, memory, clocks, named topics."""
