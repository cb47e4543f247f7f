"""Initial values in Verilog: memories of zeros as loops, and constants that a block computes at the start."""

import re

_MODULE = re.compile(r"(?m)^(?=module )")
_ZEROS = re.compile(r"  initial begin\n((?:    (\\\S+ |\S+?)\[\d+\] = \d+'h0+;\n)+)  end\n")
"""A memory that starts as zeros, row by row: that is half of some designs' text."""
_CONSTANT = re.compile(r"  always @\*\n    (.+ = (?:\d+'[bdh][\da-fxz]+|\{ (?:\d+'[bdh][\da-fxz]+(?:, )?)+ \});\n)")
"""A constant field of a signal whose other bits vary: a block that reads nothing, and so never runs."""
_TRIGGER = "\\at_start "
"""A signal that these blocks read, so that they run once at the start; Yosys has another name for it.

It changes after all blocks have started to wait. Yosys's value in the declaration may be set before they do.
"""
_DECLARED = re.compile(r"  reg \\\S+\$verilog_backend\S+  = 0;\n")
_READ = re.compile(r"(    if \()\\\S+\$verilog_backend\S+ (\) begin end\n)")
_DECLARATION = f"  reg {_TRIGGER};\n  initial {_TRIGGER} <= 1'h0;\n"
_BLOCK = "  always @* begin\n"


def with_starts(verilog: str) -> str:
    """The same Verilog, with memories of zeros set in loops, and constant fields of signals set at the start."""
    return "".join(_module(text) for text in _MODULE.split(verilog))


def _module(text: str) -> str:
    text = _READ.sub(lambda read: f"{read[1]}{_TRIGGER}{read[2]}", _ZEROS.sub(_loop, text))
    text, triggers = _DECLARED.subn(lambda _: _DECLARATION, text)
    text, constants = _CONSTANT.subn(
        lambda block: f"{_BLOCK}    if ({_TRIGGER}) begin end\n    {block[1]}  end\n", text
    )
    return text if triggers or not constants else text.replace(_BLOCK, _DECLARATION + _BLOCK, 1)


def _loop(rows: re.Match[str]) -> str:
    """The assignments as a loop, whose counter has a name of its own."""
    name, count = rows[2].strip(), rows[1].count("\n")
    row = f"\\{name.removeprefix(chr(92))}$row "
    return f"  integer {row};\n  initial for ({row}= 0; {row}< {count}; {row}= {row}+ 1) {rows[2]}[{row}] = 0;\n"
