"""Operands of the ALU: sources, presubtract, swizzle and input modifiers. Source: CTM Guide pp. 25-27."""

from llvmlite import ir

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r5xx.opcodes import Presubtract
from ctm.sim.engines.fast.r5xx.exactness import Exactness
from ctm.sim.engines.fast.r5xx.registers import Temporaries
from ctm.sim.engines.fast.vector import arithmetic, selection
from ctm.sim.engines.fast.vector.lanes import FLOAT, INT, Lanes, Value
from ctm.sim.golden.r5xx.instruction import Address, Alu, Bank, Row
from ctm.sim.golden.r5xx.plan import Reading


class Operands:
    """Reads operands of one instruction; `constants` points at the float constants."""

    def __init__(
        self,
        instruction: Alu,
        temporaries: Temporaries,
        constants: Value,
        exactness: Exactness,
        loop_index: Value,
    ) -> None:
        self._instruction = instruction
        self._temporaries, self._constants, self._exactness = temporaries, constants, exactness
        self._loop_index = loop_index
        self._presubtracted: dict[tuple[int, int], Value] = {}

    def values(self, lanes: Lanes, reading: Reading) -> list[Value]:
        """The value of each row in `lanes`, which are wide enough for all."""
        return [self.value(lanes, reading, row) for row in range(len(reading.rows))]

    def value(self, lanes: Lanes, reading: Reading, number: int, *, exact: bool = False) -> Value:
        """The value of one row in `lanes`, which are wide enough for it; with `exact` it has the machine's NaN."""
        row, address = reading.rows[number], reading.addresses[number]
        if row.literal is not None:
            value = lanes.fenced(lanes.single(row.literal))
        elif address is None:
            value = self._presubtract(lanes, row.channel)
        else:
            value = self._source(lanes, address, row.channel)
        if exact and self._may_be_any_nan(row, address):
            value = selection.canonical(lanes, value)
        return selection.input_modifier(lanes, value, row.modifier.value)

    def _may_be_any_nan(self, row: Row, address: Address | None) -> bool:
        if row.literal is not None:
            return False
        if address is None:
            return True
        return address.bank is Bank.TEMPORARY and self._exactness.is_arithmetic((address.index, row.channel))

    def _source(self, lanes: Lanes, address: Address, channel: int) -> Value:
        if address.bank is Bank.INLINE:
            return lanes.fenced(lanes.single(address.value))
        if address.bank is Bank.TEMPORARY:
            return lanes.spread(self._temporaries.read(address, channel, self._loop_index))
        builder, row = lanes.builder, ir.Constant(INT, address.index)
        if address.relative:
            row = builder.and_(builder.add(row, self._loop_index), ir.Constant(INT, FLOAT_CONSTANTS - 1))
        number = builder.add(builder.mul(row, ir.Constant(INT, CHANNELS)), ir.Constant(INT, channel))
        return lanes.splat(builder.load(builder.gep(self._constants, [number], source_etype=FLOAT), typ=FLOAT))

    def _presubtract(self, lanes: Lanes, channel: int) -> Value:
        known = self._presubtracted
        if (channel, lanes.width) not in known:
            sources = [self._source(lanes, address, channel) for address in presubtracted(self._instruction, channel)]
            operation = self._instruction.unit(channel).presubtract
            known[channel, lanes.width] = arithmetic.presubtract(lanes, operation.value, *sources)
        return known[channel, lanes.width]


def presubtracted(instruction: Alu, channel: int) -> tuple[Address, Address]:
    """What srcp of a channel is computed from."""
    unit = instruction.unit(channel)
    first, second = unit.addresses[:2]
    # BIAS and INV have src0 only.
    return (first, second) if unit.presubtract in (Presubtract.SUB, Presubtract.ADD) else (first, first)
