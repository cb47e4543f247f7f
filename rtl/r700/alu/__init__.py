"""ALU clauses: contexts, operands, results."""
