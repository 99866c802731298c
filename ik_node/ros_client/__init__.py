"""Clients of a running node: the session of the browser page, and the demo."""
