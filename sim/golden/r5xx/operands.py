"""Operands of the ALU: sources, presubtract, swizzle and input modifiers."""

from collections.abc import Sequence

import numpy as np

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.opcodes import Presubtract
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.r5xx.instruction import Address, Alu, Bank, Destination, Row
from ctm.sim.golden.r5xx.plan import Reading, modified
from ctm.sim.golden.r5xx.state import Batch

_ZERO = np.zeros(1, np.float32)


def temporary(batch: Batch, operand: Address | Destination) -> int:
    """Number of the temporary that an address means now; N + aL wraps inside the file."""
    return (operand.index + batch.control.loop_index) % TEMPORARIES if operand.relative else operand.index


class Operands:
    """Reads operands of one instruction for one batch.

    A row is float32 [n], or [1] where all lanes read the same.
    """

    def __init__(self, batch: Batch, constants: Constants, instruction: Alu) -> None:
        self._batch = batch
        self._constants = constants
        self._instruction = instruction
        self._presubtracted: dict[int, Floats] = {}

    def gather(self, reading: Reading) -> Floats:
        """The value of an operand: float32 [rows, n or 1].

        The result may be the register file itself or shared: it must not be changed.
        """
        if reading.fixed is not None:
            return reading.fixed
        if reading.slice_of is not None:
            number, first = temporary(self._batch, reading.slice_of), reading.rows[0].channel
            if number < len(self._batch.clean):
                return self._batch.temporaries[number, first : first + len(reading.rows)]
        values = [self._row(row, address) for row, address in zip(reading.rows, reading.addresses, strict=True)]
        result = np.empty((len(values), max(value.size for value in values)), np.float32)
        for index, value in enumerate(values):
            result[index] = value
        return modified(result, reading.rows)

    def is_clean(self, readings: Sequence[Reading]) -> bool:
        """Whether these operands hold no denormal for certain."""
        return all(
            self._is_clean(address)
            for reading in readings
            if reading.fixed is None
            for address in reading.addresses
            if address is not None
        )

    def _row(self, row: Row, address: Address | None) -> Floats:
        """The unmodified value of one row."""
        if row.literal is not None:
            return np.full(1, row.literal, np.float32)
        return self._presubtract(row.channel) if address is None else self._source(address, row.channel)

    def _source(self, address: Address, channel: int) -> Floats:
        if address.bank is Bank.INLINE:
            return np.full(1, address.value, np.float32)
        if address.bank is Bank.CONSTANT:
            return self._constants.float_constant(self._constant(address))[channel : channel + 1]
        number = temporary(self._batch, address)
        return self._batch.temporaries[number, channel] if number < len(self._batch.clean) else _ZERO

    def _presubtract(self, channel: int) -> Floats:
        if channel not in self._presubtracted:
            unit = self._instruction.unit(channel)
            first, second = unit.addresses[:2]
            # BIAS and INV have src0 only: src1 may point at a constant that cannot be read.
            read = (first, second) if unit.presubtract in (Presubtract.SUB, Presubtract.ADD) else (first, first)
            sources = (self._source(address, channel) for address in read)
            self._presubtracted[channel] = fp.presubtract(unit.presubtract.value, *sources)
        return self._presubtracted[channel]

    def _constant(self, address: Address) -> int:
        offset = self._batch.control.loop_index if address.relative else 0
        return (address.index + offset) % FLOAT_CONSTANTS

    def _is_clean(self, address: Address) -> bool:
        if address.bank is Bank.CONSTANT:
            return self._constants.is_clean(self._constant(address))
        if address.bank is Bank.INLINE:
            return True
        number = temporary(self._batch, address)
        return number >= len(self._batch.clean) or self._batch.clean[number]
