"""What joints are asked, measured and allowed."""
