"""What units that rest give, kept where it is computed.

Verilator puts what is read in one place only into the expression that reads it, and so would compute what a unit gives
in each cycle, although what it follows from changes only while the unit works (`ctm.rtl.lib.rest.Resting`).
"""

import re

_MODULE = re.compile(r"(?m)^(?=module )")
_GATED = re.compile(r"(?m)^  wire resting_clk;$")
_OUTPUT = re.compile(r"(?m)^(  output (?:\[\d+:0\] )?[\w$]+);$")
_KEPT = r"\1 /*verilator public_flat_rd*/;"


def with_kept_results(verilog: str) -> str:
    """The same Verilog with plain names, in which outputs of resting units are variables of the model's."""
    return "".join(_OUTPUT.sub(_KEPT, text) if _GATED.search(text) else text for text in _MODULE.split(verilog))
