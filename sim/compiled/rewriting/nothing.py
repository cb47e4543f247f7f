"""RTLIL without wires of no bits, for which Verilog has no word.

Amaranth reads none of them: where one would be read, it writes an empty signal.
"""

import re

_MODULE = re.compile(r"^module .*?^end\n", re.MULTILINE | re.DOTALL)
_WIRE = re.compile(r"^(?:  attribute .*\n)*  wire width 0 (?:.* )?(\S+)\n", re.MULTILINE)
_CELL = re.compile(r"^  cell \$\w+ \S+\n(?:    .*\n)*?    connect \\[YQ] (\S+)\n(?:    .*\n)*?  end\n", re.MULTILINE)
_ALL = re.compile(r"(^  cell \$reduce_and \S+\n(?:    parameter .*\n)*?    parameter \\A_WIDTH) 0\n", re.MULTILINE)
_NOTHING = re.compile(r"connect \\A \{ +\}")
_CONNECTION = re.compile(r"^(?:(?:  )?connect \S+| +assign \{ +\}) \{ +\}\n", re.MULTILINE)


def without_nothing(text: str) -> str:
    """The same design, without wires of no bits and what drives them."""
    return _MODULE.sub(_module, text)


def with_all_of_nothing(text: str) -> str:
    """The same design, in which ``Cat().all()`` is 1, as it is in Amaranth and in Yosys; its Verilog has 0 there."""
    before, *cells = _ALL.split(text)
    pairs = zip(cells[::2], cells[1::2], strict=True)
    return before + "".join(f"{head} 1\n" + _NOTHING.sub("connect \\\\A 1'1", tail, count=1) for head, tail in pairs)


def _module(match: re.Match[str]) -> str:
    names = frozenset(_WIRE.findall(match[0]))
    if not names:
        return match[0]
    text = _CELL.sub(lambda cell: "" if cell[1] in names else cell[0], _WIRE.sub("", match[0]))
    return _CONNECTION.sub("", text)
