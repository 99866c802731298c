"""What the node publishes."""
