"""The node's parameters."""
