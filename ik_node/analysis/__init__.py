"""The analysis of mechanisms: mobility, conditioning, and the closing of loops."""
