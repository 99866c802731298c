"""Further methods for comparison and teaching, on the model of the compiled solver."""
