"""The executable specification of the machine, in numpy."""
