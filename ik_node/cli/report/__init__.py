"""What `check` says of a robot: facts, in words and as a picture."""
