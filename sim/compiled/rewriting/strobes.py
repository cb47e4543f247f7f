"""Memory rows that are written in parts: a look at all strobes together before one at each.

Yosys writes ``if (strobes[n]) memory[row][...] <= ...`` for each part. In most cycles there is none, and a model that
looks at 64 of them takes a good part of a percent of its time for that.
"""

import re

_WRITES = re.compile(
    r"    if \((\\\S+ |[A-Za-z_$][\w$]*) ?\[0\]\)\n      .* <= .*;\n(?:    if \(\1 ?\[\d+\]\)\n      .* <= .*;\n)+"
)


def with_strobes_together(verilog: str) -> str:
    """The same Verilog, all writes of a row's parts in one more condition: that there is one."""
    return _WRITES.sub(r"    if (|\1) begin\n\g<0>    end\n", verilog)
