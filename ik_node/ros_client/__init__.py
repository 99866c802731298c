"""The browser page beside a running node: what it hears of it and asks of it."""
