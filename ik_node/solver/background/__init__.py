"""A solver that runs in a thread of its own."""
