"""Subscriptions of the node: goals, joint states, joint targets and transforms."""
