"""ALU and OUTPUT instructions: the operations and the result path. Source: CTM Guide pp. 28-32."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctm.rtl.isa.r5xx.opcodes import OutputModifier
from ctm.rtl.isa.r5xx.operations import OPERATIONS
from ctm.sim.engines.fast.r5xx.exactness import BIT_COPIES, Exactness, copies_bits
from ctm.sim.engines.fast.r5xx.operands import Operands
from ctm.sim.engines.fast.vector import arithmetic, selection
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental
from ctm.sim.golden.r5xx.instruction import ALPHA
from ctm.sim.golden.r5xx.plan import DERIVATIVES, Block

DOTS = {operation.name for operation in OPERATIONS if operation.is_dot}
_TRANSCENDENTALS = {operation.name for operation in OPERATIONS if operation.is_transcendental}
_NEIGHBOURS = {"MDH": 1, "MDV": 2}
"""Lanes (i+1, j) and (i, j+1) of a quad."""


@dataclass(frozen=True)
class Result:
    """One channel's result; `any_nan` says that a NaN in it may have any bits."""

    value: Value
    any_nan: bool


@dataclass(frozen=True)
class Alu:
    """Computes results; nothing is written."""

    lanes: Lanes
    unit: Transcendental
    exactness: Exactness
    zero_times_anything: bool

    def results(self, spans: Sequence[int], operands: Operands, block: Block) -> dict[int, Result]:
        """Of each channel of a block. `spans` are the widths of what is computed, one for each channel, or one."""
        any_nan = True
        if copies_bits(block):
            any_nan = self.exactness.copies_arithmetic(block)
        computed = self._values([self.lanes.at(span) for span in spans], operands, block, exact=not any_nan)
        values = [self._finished(block, value) for value in computed]
        return {channel: Result(values[index % len(values)], any_nan) for index, channel in enumerate(block.channels)}

    def _finished(self, block: Block, value: Value) -> Value:
        if block.modifier is OutputModifier.DISABLED:
            return value
        lanes, clean = self.lanes.of(value), block.operation not in BIT_COPIES
        value = selection.output_modifier(lanes, value, block.modifier.value, clean=clean)
        return selection.clamp(lanes, value) if block.clamp else value

    def _values(self, spans: Sequence[Lanes], operands: Operands, block: Block, *, exact: bool) -> list[Value]:
        """The operation's results, one for each channel or one for all; `exact` asks for the machine's NaN."""
        if block.operation in DERIVATIVES:
            return self._derivative(operands, block)
        if block.operation in DOTS:
            return [self._dot(spans[0], operands, block)]
        results = []
        for row, lanes in enumerate(spans):
            # A condition's NaN may be any.
            values = [
                operands.value(lanes, reading, row, exact=exact and index < len("ab"))
                for index, reading in enumerate(block.readings)
            ]
            results.append(self._element(lanes, block.operation, values))
        return results

    def _element(self, lanes: Lanes, operation: str, operands: Sequence[Value]) -> Value:
        if operation in _TRANSCENDENTALS:
            return self.unit.apply(operation, operands[0])
        if operation == "MAD":
            return arithmetic.multiply_add(lanes, *operands, zero_times_anything=self.zero_times_anything)
        function: Value = {
            "MIN": selection.minimum,
            "MAX": selection.maximum,
            "CND": selection.select_above_half,
            "CMP": selection.select_not_negative,
            "FRC": arithmetic.fraction,
        }[operation]
        return function(lanes, *operands)

    def _dot(self, lanes: Lanes, operands: Operands, block: Block) -> Value:
        a, b, *addends = (operands.values(lanes, reading) for reading in block.readings)
        if block.fourth_from_quad:
            a[ALPHA] = lanes.of_quad(a[ALPHA], 0)
        extra = addends[0] if addends else ()
        return arithmetic.dot(lanes, a, b, extra, zero_times_anything=self.zero_times_anything)

    def _derivative(self, operands: Operands, block: Block) -> list[Value]:
        """A*B + C with A = src0 of the quad's lane 0 and C = src0 of its neighbour."""
        lanes, neighbour = self.lanes, _NEIGHBOURS[block.operation]
        rows = zip(*(operands.values(lanes, reading) for reading in block.readings), strict=True)
        return [
            arithmetic.multiply_add(
                lanes, lanes.of_quad(a, 0), b, lanes.of_quad(c, neighbour), zero_times_anything=self.zero_times_anything
            )
            for a, b, c in rows
        ]
