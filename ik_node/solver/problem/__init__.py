"""What one solve has: constraints, joints, options, and arrays of them."""
