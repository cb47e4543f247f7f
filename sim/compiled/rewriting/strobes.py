"""Memory rows with write strobes: one test of all strobes before a test of each.

Yosys writes ``if (strobes[n]) memory[row][...] <= ...`` for each field of a row. In most cycles no strobe is set, and a
model that tests 64 of them takes almost a percent of its time for that.
"""

import re

_WRITES = re.compile(
    r"    if \((\\\S+ |[A-Za-z_$][\w$]*) ?\[0\]\)\n      .* <= .*;\n(?:    if \(\1 ?\[\d+\]\)\n      .* <= .*;\n)+"
)


def with_strobes_together(verilog: str) -> str:
    """The same Verilog, the writes of a row's fields in one more condition: that any strobe is set."""
    return _WRITES.sub(r"    if (|\1) begin\n\g<0>    end\n", verilog)
