"""What Verilog's blocks do when time begins."""

import re

_MODULE = re.compile(r"(?m)^(?=module )")
_ZEROS = re.compile(r"  initial begin\n((?:    (\\\S+ |\S+?)\[\d+\] = \d+'h0+;\n)+)  end\n")
"""A memory that starts as zeros, row by row: that is half of some designs' text."""
_CONSTANT = re.compile(r"  always @\*\n    (.+ = (?:\d+'[bdh][\da-fxz]+|\{ (?:\d+'[bdh][\da-fxz]+(?:, )?)+ \});\n)")
"""Part of a signal that is constant while the rest of it is not: a block that reads nothing, and so never runs."""
_TRIGGER = "\\at_start "
"""What other blocks read, so that they run once even if nothing else changes; Yosys has another name for it.

It changes when all blocks wait for that. A value in its declaration, as Yosys gives it, may be there before they do.
"""
_DECLARED = re.compile(r"  reg \\\S+\$verilog_backend\S+  = 0;\n")
_READ = re.compile(r"(    if \()\\\S+\$verilog_backend\S+ (\) begin end\n)")
_DECLARATION = f"  reg {_TRIGGER};\n  initial {_TRIGGER} <= 1'h0;\n"
_BLOCK = "  always @* begin\n"


def with_starts(verilog: str) -> str:
    """The same Verilog, where zeros are written in loops, and constant parts of signals have their value."""
    return "".join(_module(text) for text in _MODULE.split(verilog))


def _module(text: str) -> str:
    text = _READ.sub(lambda read: f"{read[1]}{_TRIGGER}{read[2]}", _ZEROS.sub(_loop, text))
    text, triggers = _DECLARED.subn(lambda _: _DECLARATION, text)
    text, constants = _CONSTANT.subn(
        lambda block: f"{_BLOCK}    if ({_TRIGGER}) begin end\n    {block[1]}  end\n", text
    )
    return text if triggers or not constants else text.replace(_BLOCK, _DECLARATION + _BLOCK, 1)


def _loop(rows: re.Match[str]) -> str:
    """The same as a loop, with a counter whose name hides no other."""
    name, count = rows[2].strip(), rows[1].count("\n")
    row = f"\\{name.removeprefix(chr(92))}$row "
    return f"  integer {row};\n  initial for ({row}= 0; {row}< {count}; {row}= {row}+ 1) {rows[2]}[{row}] = 0;\n"
