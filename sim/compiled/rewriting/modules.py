"""Where modules and their instances stand in Verilog, as Yosys writes it, with plain names."""

import re

MODULE = re.compile(r"^module ([\w$]+).*?^endmodule$", re.MULTILINE | re.DOTALL)
"""A whole module; the group is its name."""
INSTANCE = re.compile(r"^  ([A-Za-z_][\w$]*) ([A-Za-z_][\w$]*) \(\n", re.MULTILINE)
"""The first line of an instance; the groups are the module's name and its own."""
