"""Services of the node."""
