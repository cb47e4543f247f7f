"""The lines of constants that a clause locked, and the row that a select names in them.

Source: R700-Family Instruction Set Architecture, section 4.6.
"""

from amaranth import Array, Cat, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS, KCACHE_SET_ROWS, KCACHE_SETS
from ctm.rtl.r700.alu.operands import ROW_BITS

_ROW_OF_LINE = (KCACHE_LINE_ROWS - 1).bit_length()
_SET_LINES = KCACHE_SET_ROWS // KCACHE_LINE_ROWS
_CODE_BITS = (KCACHE_SETS * _SET_LINES - 1).bit_length()
INDEX_BITS = _ROW_OF_LINE + _CODE_BITS
"""Width of a constant's index: its row in its line, and the line's code."""


class LockedLines:
    """The two locked lines of each kcache set, and constant indices that are equal where the rows are.

    A constant's select has its row in the line, and above it a code: bit 0 is the line, bit 1 the set. A line that both
    sets lock has the code of set 0, so that operands with the same row have the same index, which is narrower than the
    row. All values are combinational; `kcache` must be stable while they are used.
    """

    def __init__(self, m: Module, kcache: data.View) -> None:
        self._lines: list[Signal] = []
        self._unlocked: list[Value] = []
        for lock in (kcache[number] for number in range(KCACHE_SETS)):
            for number in range(_SET_LINES):
                line = Signal(ROW_BITS - _ROW_OF_LINE, name="locked_line")
                m.d.comb += line.eq(lock.line + number)
                self._lines.append(line)
                self._unlocked.append(lock.problem | (lock.lines <= number))
        self._codes: list[Signal] = []
        for number, line in enumerate(self._lines):
            code, others = Signal(_CODE_BITS, name="line_code"), range(number // _SET_LINES * _SET_LINES)
            m.d.comb += code.eq(number)
            for other in others:
                with m.If(line == self._lines[other]):
                    m.d.comb += code.eq(other)
            self._codes.append(code)

    def constant_index(self, select: Value) -> tuple[Value, Value]:
        """The index of the constant that a select names, and a flag: its line is not locked."""
        in_line, code = select[:_ROW_OF_LINE], select[_ROW_OF_LINE : _ROW_OF_LINE + _CODE_BITS]
        return Cat(in_line, Array(self._codes)[code]), Array(self._unlocked)[code]

    def row(self, constant_index: Value) -> Value:
        """The row of constants that an index of `constant_index` names."""
        return Cat(constant_index[:_ROW_OF_LINE], Array(self._lines)[constant_index[_ROW_OF_LINE:]])
