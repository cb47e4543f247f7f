"""From statements to a program: control flow, clauses, constants, addresses, sizes."""
