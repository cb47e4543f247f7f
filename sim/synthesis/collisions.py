"""Memories for which reading a row while it is written gives anything, told to Yosys.

In Verilog Yosys knows them by an attribute. In RTLIL, in which Amaranth's read ports have clocks already, it is the
port that says so.
"""

import re

from ctm.rtl.lib.ram import UNCHECKED

_MEMORY = re.compile(rf"^  attribute \\{UNCHECKED} 1\n(?:  attribute .*\n)*  memory .* \\(\S+)$", re.MULTILINE)
_CELL = r'^(  cell \$memrd_v2 .*\n    parameter \\MEMID "\\\\(.*)"\n(?:    .*\n)*?'
_READ = re.compile(_CELL + r"    parameter \\COLLISION_X_MASK )(\d+)'0+$", re.MULTILINE)


def with_collisions(module: str) -> str:
    """A module in RTLIL, in which read ports of such memories do not care for any write port."""
    unchecked = set(_MEMORY.findall(module))

    def told(read: re.Match[str]) -> str:
        return f"{read[1]}{read[3]}'{'1' * int(read[3])}" if read[2] in unchecked else read[0]

    return _READ.sub(told, module)
