"""Services of the node, except ~/solve_ik."""
