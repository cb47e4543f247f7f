"""Int and bool constants of a core.

Source: CTM Guide pp. 7, 38.
"""

from typing import Any

from amaranth import Cat, Module, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import BEAT_WORDS, LINE_BEATS, ConstantBank
from ctm.rtl.dpp.constants.loader import CONSTANT_WRITE, LINES
from ctm.rtl.isa.limits import BOOL_CONSTANTS, BYTE_BITS, INT_CONSTANTS
from ctm.rtl.lib.ram import DistributedRam

ITERATION_BITS = 8
INT_CONSTANT = data.StructLayout({"count": ITERATION_BITS, "start": 8, "step": signed(8), "unused": 8})
"""An integer constant as memory holds it."""
_WORD_BITS = (BEAT_WORDS - 1).bit_length()


class FlowConstants(wiring.Component):
    """Holds int and bool constants as memory has given them; reads are combinational.

    Members
    -------
    write : ``In(CONSTANT_WRITE)``
    integer_number, boolean_number : ``In(5)``
    integer : ``Out(INT_CONSTANT)``
    boolean : ``Out(1)``
    integer_error, boolean_error : ``Out(1)``
        Memory gave an error response for the constant.
    """

    write: In(CONSTANT_WRITE)
    integer_number: In(range(INT_CONSTANTS))
    boolean_number: In(range(BOOL_CONSTANTS))
    integer: Out(INT_CONSTANT)
    integer_error: Out(1)
    boolean: Out(1)
    boolean_error: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = self.write.words
        booleans = Cat(word[:BYTE_BITS].any() for word in words)
        integer, error = self._read(m, ConstantBank.INT, INT_CONSTANT.size, Value.cast(words), self.integer_number)
        m.d.comb += [Value.cast(self.integer).eq(integer), self.integer_error.eq(error)]
        boolean, error = self._read(m, ConstantBank.BOOL, 1, booleans, self.boolean_number)
        m.d.comb += [self.boolean.eq(boolean), self.boolean_error.eq(error)]
        return m

    def _read(self, m: Module, bank: ConstantBank, bits: int, contents: Value, number: Value) -> tuple[Any, Any]:
        """A constant of a file whose beats have `contents`, and whether memory gave an error response for it."""
        row = data.StructLayout({"contents": data.ArrayLayout(bits, BEAT_WORDS), "error": 1})
        m.submodules[bank.name.lower()] = table = DistributedRam(row, LINES[bank] * LINE_BEATS)
        write = self.write
        table.write(m, Cat(write.beat, write.line), Cat(contents, write.error), write.valid & (write.bank == bank))
        found = table.read(m, number[_WORD_BITS:])
        return found.contents[number[:_WORD_BITS]], found.error
