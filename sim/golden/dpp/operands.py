"""Operands of the ALU: sources, presubtract, swizzle and input modifiers."""

from collections.abc import Sequence

import numpy as np

from rtl.isa.limits import FLOAT_CONSTANTS, QUAD, TEMPORARIES
from rtl.isa.opcodes import InputModifier
from sim.golden import fp
from sim.golden.dpp.batch import Batch, Floats
from sim.golden.dpp.instruction import Address, Alu, Bank, Destination, Row
from sim.golden.dpp.program import Constants

_ZERO = np.zeros(1, np.float32)


def temporary(batch: Batch, place: Address | Destination) -> int:
    """Number of the temporary that an address means now; N + aL wraps inside the file."""
    return (place.index + batch.control.loop_index) % TEMPORARIES if place.relative else place.index


class Operands:
    """Reads operands of one instruction for one batch.

    A row is float32 [n], or [1] where all lanes read the same.
    """

    def __init__(self, batch: Batch, constants: Constants, instruction: Alu) -> None:
        self._batch = batch
        self._constants = constants
        self._instruction = instruction
        self._presubtracted: dict[int, Floats] = {}

    def gather(self, channels: Sequence[int], operand: int) -> Floats:
        """Operand A, B or C (0, 1, 2) of some channels: float32 [len(channels), n or 1].

        The result may be the register file itself: it must not be changed.
        """
        rows = [self._instruction.operands[channel][operand] for channel in channels]
        whole = self._registers(rows)
        if whole is not None:
            return whole
        values = [self.row(row) for row in rows]
        result = np.empty((len(rows), max(value.size for value in values)), np.float32)
        for place, value in enumerate(values):
            result[place] = value
        return _modified(result, [row.modifier for row in rows])

    def gather_quad(self, channels: Sequence[int], operand: int, lane: int) -> Floats:
        """src0 of one lane of each quad, for all lanes of the quad, with the modifiers of an operand."""
        rows = [np.broadcast_to(self.source(0, channel), self._batch.size) for channel in channels]
        values = np.repeat(np.stack(rows)[:, lane::QUAD], QUAD, axis=1)
        return _modified(values, [self._instruction.operands[channel][operand].modifier for channel in channels])

    def is_clean(self, channels: Sequence[int], operands: Sequence[int]) -> bool:
        """Whether these operands hold no denormal for certain."""
        return all(
            self._is_clean(self._instruction.operands[channel][operand], channel)
            for channel in channels
            for operand in operands
        )

    def row(self, row: Row) -> Floats:
        """The unmodified value of one row."""
        if row.literal is not None:
            return np.full(1, row.literal, np.float32)
        if row.source is None:
            return self._presubtract(row.channel)
        return self.source(row.source, row.channel)

    def source(self, source: int, channel: int) -> Floats:
        """One channel of src0, src1 or src2."""
        address = self._instruction.unit(channel).addresses[source]
        if address.bank is Bank.INLINE:
            return np.full(1, address.value, np.float32)
        if address.bank is Bank.CONSTANT:
            return self._constants.float_constant(self._constant(address))[channel : channel + 1]
        number = temporary(self._batch, address)
        return self._batch.temporaries[number, channel] if number < len(self._batch.clean) else _ZERO

    def _registers(self, rows: Sequence[Row]) -> Floats | None:
        """The rows as a slice of the register file, where they are one."""
        first = rows[0]
        if first.source is None or first.literal is not None:
            return None
        address = self._instruction.unit(first.channel).addresses[first.source]
        for place, row in enumerate(rows):
            if row != Row(InputModifier.OFF, first.channel + place, first.source):
                return None
            if self._instruction.unit(row.channel).addresses[first.source] != address:
                return None
        if address.bank is not Bank.TEMPORARY:
            return None
        number = temporary(self._batch, address)
        if number >= len(self._batch.clean):
            return None
        return self._batch.temporaries[number, first.channel : first.channel + len(rows)]

    def _presubtract(self, channel: int) -> Floats:
        if channel not in self._presubtracted:
            operation = self._instruction.unit(channel).presubtract
            self._presubtracted[channel] = fp.presubtract(
                operation.value, self.source(0, channel), self.source(1, channel)
            )
        return self._presubtracted[channel]

    def _constant(self, address: Address) -> int:
        offset = self._batch.control.loop_index if address.relative else 0
        return (address.index + offset) % FLOAT_CONSTANTS

    def _is_clean(self, row: Row, channel: int) -> bool:
        if row.literal is not None or row.source is None:
            return True
        address = self._instruction.unit(row.channel).addresses[row.source]
        if address.bank is Bank.CONSTANT:
            return self._constants.is_clean(self._constant(address))
        if address.bank is Bank.INLINE:
            return True
        number = temporary(self._batch, address)
        return number >= len(self._batch.clean) or self._batch.clean[number]


def _modified(values: Floats, modifiers: Sequence[InputModifier]) -> Floats:
    if all(modifier is modifiers[0] for modifier in modifiers):
        return fp.input_modifier(values, modifiers[0].value)
    for place, modifier in enumerate(modifiers):
        values[place] = fp.input_modifier(values[place], modifier.value)
    return values
