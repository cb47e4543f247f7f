"""The lines of constants that a clause locked, and the row that a select names in them.

Source: R700-Family Instruction Set Architecture, section 4.6.
"""

from amaranth import Array, Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS, KCACHE_SET_ROWS, KCACHE_SETS
from ctm.rtl.r700.alu.operands import ROW_BITS
from ctm.rtl.r700.border.alu_clause import KCACHE

_ROW_OF_LINE = (KCACHE_LINE_ROWS - 1).bit_length()
_SET_LINES = KCACHE_SET_ROWS // KCACHE_LINE_ROWS
_CODE_BITS = (KCACHE_SETS * _SET_LINES - 1).bit_length()
INDEX_BITS = _ROW_OF_LINE + _CODE_BITS
"""Width of a constant's index: its row in its line, and the line's code."""


LOCKED = data.StructLayout(
    {
        "lines": data.ArrayLayout(ROW_BITS - _ROW_OF_LINE, KCACHE_SETS * _SET_LINES),
        "codes": data.ArrayLayout(_CODE_BITS, KCACHE_SETS * _SET_LINES),
        "unlocked": KCACHE_SETS * _SET_LINES,
    }
)
"""Of each code in a select: the line that it names, the lowest code that names the same line, and whether its line is
not locked."""


class LockedLines(wiring.Component):
    """The two locked lines of each kcache set, and constant indices that are equal where the rows are. Combinational.

    A constant's select has its row in the line, and above it a code: bit 0 is the line, bit 1 the set. The index of a
    line that both sets lock has the code of set 0. So operands with the same row have the same index, which is narrower
    than the row.

    Members
    -------
    kcache : ``In(ArrayLayout(KCACHE, 2))``
    locked : ``Out(LOCKED)``
    """

    kcache: In(data.ArrayLayout(KCACHE, KCACHE_SETS))
    locked: Out(LOCKED)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lines: list[Signal] = []
        codes: list[Signal] = []
        unlocked: list[Value] = []
        for lock in (self.kcache[number] for number in range(KCACHE_SETS)):
            for number in range(_SET_LINES):
                line = Signal(ROW_BITS - _ROW_OF_LINE, name="locked_line")
                m.d.comb += line.eq(lock.line + number)
                lines.append(line)
                unlocked.append(lock.problem | (lock.lines <= number))
        for number, line in enumerate(lines):
            code, others = Signal(_CODE_BITS, name="line_code"), range(number // _SET_LINES * _SET_LINES)
            m.d.comb += code.eq(number)
            for other in others:
                with m.If(line == lines[other]):
                    m.d.comb += code.eq(other)
            codes.append(code)
        m.d.comb += Value.cast(self.locked).eq(Cat(lines, codes, unlocked))
        return m


def constant_index(locked: data.View, select: Value) -> tuple[Value, Value]:
    """The index of the constant that a select names, and a flag: its line is not locked."""
    in_line, code = select[:_ROW_OF_LINE], select[_ROW_OF_LINE : _ROW_OF_LINE + _CODE_BITS]
    return Cat(in_line, Array(list(locked.codes))[code]), Array(list(locked.unlocked))[code]


def constant_row(locked: data.View, index: Value) -> Value:
    """The row of constants that an index of `constant_index` names."""
    return Cat(index[:_ROW_OF_LINE], Array(list(locked.lines))[index[_ROW_OF_LINE:]])
