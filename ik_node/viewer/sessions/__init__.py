"""Sessions that connect the page with the solver."""
