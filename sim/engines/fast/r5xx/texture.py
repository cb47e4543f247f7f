"""Texture instructions: fetches, and kill. Source: CTM Guide pp. 32-33."""

from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r5xx.gates import Gates
from ctm.sim.engines.fast.r5xx.registers import Temporaries
from ctm.sim.engines.fast.r5xx.spans import Spans
from ctm.sim.engines.fast.vector import conversion, selection
from ctm.sim.engines.fast.vector.address import BufferParameters
from ctm.sim.engines.fast.vector.fetch import fetch
from ctm.sim.engines.fast.vector.lanes import ONE, Lanes, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental
from ctm.sim.golden.r5xx.instruction import Tex


@dataclass(frozen=True)
class Texture:
    """Fetches of a program."""

    kernel: Kernel
    unit: Transcendental
    gates: Gates
    temporaries: Temporaries
    spans: Spans

    @property
    def _lanes(self) -> Lanes:
        return self.kernel.lanes

    def kill(self, instruction: Tex, loop_index: Value) -> None:
        """KILL_LT_0: clears the valid bit of lanes with a channel below zero."""
        builder, registers = self._lanes.builder, self.gates.registers
        base = self.gates.base()
        for channel in instruction.common.write_mask:
            value = self._lanes.spread(self.temporaries.read(instruction.source, channel, loop_index))
            less = selection.is_less_than_zero(self._lanes, value)
            gate = self.gates.of(instruction.common, channel, base)
            less = less if gate is None else builder.and_(less, gate)
            builder.store(builder.and_(registers.mask(registers.valid_mask), builder.not_(less)), registers.valid_mask)

    def fetch(self, instruction: Tex, loop_index: Value) -> None:
        """A fetch of any kind."""
        form, buffer = self.kernel.frame.buffers[instruction.input], self.kernel.buffers[instruction.input]
        one = self._lanes.at(ONE)
        fetched = [one.fenced(one.single(0))] * CHANNELS
        if not form.is_empty:
            source = [self.temporaries.read(instruction.source, channel, loop_index) for channel in range(CHANNELS)]
            x, y = self._coordinates(instruction, source, buffer)
            fetched = fetch(self._lanes, form, buffer, x, y)
        self._write(instruction, fetched, loop_index)

    def _coordinates(self, instruction: Tex, source: list[Value], buffer: BufferParameters) -> tuple[Value, Value]:
        """Indices in both directions, each as wide as its coordinate."""
        builder = self._lanes.builder
        s, t, _, q = (source[channel] for channel in instruction.source_swizzle)
        if instruction.operation is TextureOperation.LOOKUP_PROJ:
            s, t, q = map(self._lanes.spread, (s, t, q))
            reciprocal = self.unit.apply("RCP", q)
            s, t = builder.fmul(s, reciprocal), builder.fmul(t, reciprocal)
        scales = (None, None) if instruction.unscaled else (buffer.scale_x, buffer.scale_y)
        return self._index(s, scales[0], buffer.width_limit), self._index(t, scales[1], buffer.height_limit)

    def _index(self, coordinate: Value, scale: Value | None, limit: Value) -> Value:
        lanes, builder = self._lanes.of(coordinate), self._lanes.builder

        def floats(scalar: Value) -> Value:
            return builder.sitofp(lanes.splat(scalar), lanes.floats)

        if scale is not None:
            coordinate = builder.fmul(coordinate, floats(scale))
        return conversion.coordinate_index(lanes, coordinate, builder.fsub(floats(limit), lanes.single(1)))

    def _write(self, instruction: Tex, fetched: list[Value], loop_index: Value) -> None:
        common, builder = instruction.common, self._lanes.builder
        base = self.gates.base(write_inactive=common.write_inactive)
        if instruction.ignore_uncovered:
            base = self.kernel.covered if base is None else builder.and_(base, self.kernel.covered)
        for channel in common.write_mask:
            gate = self.gates.of(common, channel, base)
            pointer = self.temporaries.pointer(instruction.destination, channel, loop_index)
            span = self._lanes.at(self.spans.of((instruction.destination.index, channel)))
            self.gates.store(pointer, span.spread(fetched[instruction.destination_swizzle[channel]]), gate)
