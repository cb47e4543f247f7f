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
        lanes: Lanes,
        instruction: Alu,
        temporaries: Temporaries,
        constants: Value,
        exactness: Exactness,
        loop_index: Value,
    ) -> None:
        self._lanes, self._instruction = lanes, instruction
        self._temporaries, self._constants, self._exactness = temporaries, constants, exactness
        self._loop_index = loop_index
        self._presubtracted: dict[int, Value] = {}

    def values(self, reading: Reading, *, exact: bool = False) -> list[Value]:
        """The value of each row; with `exact` it has the machine's NaN."""
        return [
            self._row(row, address, exact=exact) for row, address in zip(reading.rows, reading.addresses, strict=True)
        ]

    def _row(self, row: Row, address: Address | None, *, exact: bool) -> Value:
        lanes = self._lanes
        if row.literal is not None:
            value = lanes.fenced(lanes.single(row.literal))
        elif address is None:
            value = self._presubtract(row.channel)
        else:
            value = self._source(address, row.channel)
        if exact and self._may_be_any_nan(row, address):
            value = selection.canonical(lanes, value)
        return selection.input_modifier(lanes, value, row.modifier.value)

    def _may_be_any_nan(self, row: Row, address: Address | None) -> bool:
        if row.literal is not None:
            return False
        if address is None:
            return True
        return address.bank is Bank.TEMPORARY and self._exactness.is_arithmetic((address.index, row.channel))

    def _source(self, address: Address, channel: int) -> Value:
        if address.bank is Bank.INLINE:
            return self._lanes.fenced(self._lanes.single(address.value))
        if address.bank is Bank.TEMPORARY:
            return self._temporaries.read(address, channel, self._loop_index)
        builder, row = self._lanes.builder, ir.Constant(INT, address.index)
        if address.relative:
            row = builder.and_(builder.add(row, self._loop_index), ir.Constant(INT, FLOAT_CONSTANTS - 1))
        number = builder.add(builder.mul(row, ir.Constant(INT, CHANNELS)), ir.Constant(INT, channel))
        return self._lanes.splat(builder.load(builder.gep(self._constants, [number], source_etype=FLOAT), typ=FLOAT))

    def _presubtract(self, channel: int) -> Value:
        if channel not in self._presubtracted:
            unit = self._instruction.unit(channel)
            first, second = unit.addresses[:2]
            # BIAS and INV have src0 only.
            read = (first, second) if unit.presubtract in (Presubtract.SUB, Presubtract.ADD) else (first, first)
            sources = (self._source(address, channel) for address in read)
            self._presubtracted[channel] = arithmetic.presubtract(self._lanes, unit.presubtract.value, *sources)
        return self._presubtracted[channel]
