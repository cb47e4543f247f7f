"""Synthesizable hardware of the CTM machine, and the declarations that everything else reads."""
