"""Wavefronts at their end, segment by segment: tests and outputs take wavefronts of the lanes' size.

Source: docs/design/r700-core.md.
"""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import program_fault_layout, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.dpp.wavefronts.state import end_state_layout
from ctm.rtl.isa.r700.program import PROGRAM_FORMAT
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.border.wavefront import end_layout
from ctm.rtl.r700.partition import Partition, segment_outputs


class WavefrontEnd(wiring.Component):
    """Hands over the segments of wavefronts at their end, and frees a wave slot when all of its segments are done.

    Members
    -------
    wavefront : ``In({valid, wave, wavefront})``
        A wavefront takes a wave slot.
    end : ``In(stream.Signature(end_layout(config)))``
    retire : ``Out({valid, context, faulted})``
    can_retire : ``In(1)``
    contexts : ``In(context)``, 2 of them
    states : ``Out(end_state_layout(lanes))`` for each of them
    released : ``In({valid, context, faulted})``
    free : ``Out({valid, wave})``
    fault : ``Out(stream.Signature(program_fault_layout(PROGRAM_FORMAT), always_ready=True))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config, self._segments = config, Partition.of(config).segments
        context = segment_outputs(config).context_bits
        event = data.StructLayout({"valid": 1, "context": context, "faulted": 1})
        at_wave = {"valid": 1, "wave": wave_bits(config)}
        super().__init__(
            {
                "wavefront": In(data.StructLayout(at_wave | {"wavefront": wavefront_layout(config.wavefront_lanes)})),
                "end": In(stream.Signature(end_layout(config))),
                "retire": Out(event),
                "can_retire": In(1),
                "contexts": In(context).array(2),
                "states": Out(end_state_layout(config.lanes)).array(2),
                "released": In(event),
                "free": Out(data.StructLayout(at_wave)),
                "fault": Out(stream.Signature(program_fault_layout(PROGRAM_FORMAT), always_ready=True)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, lanes = self._config, self._config.lanes
        m.submodules.positions = positions = DistributedRam(wavefront_layout(config.wavefront_lanes), config.threads)
        m.submodules.valid_mask = valid_mask = DistributedRam(config.wavefront_lanes, config.threads)
        bits = (self._segments - 1).bit_length()
        wave, faulted, number = (
            Signal(wave_bits(config)),
            Signal(),
            Signal(range(self._segments + 1), init=self._segments),
        )
        busy = number != self._segments
        end, taken = self.end.payload, Signal()
        faults = Value.cast(end.problem.status) != Status.OK.value
        position = positions.read(m, end.wave)
        m.d.comb += [
            self.end.ready.eq(~busy),
            taken.eq(self.end.valid & ~busy),
            self.retire.valid.eq(busy),
            self.retire.context.eq(Cat(number[:bits], wave)),
            self.retire.faulted.eq(faulted),
            self.fault.valid.eq(taken & faults),
            self.fault.payload.status.eq(end.problem.status),
            self.fault.payload.client.eq(end.problem.client),
            self.fault.payload.pc.eq(Cat(end.pc[:-1], end.problem.address)),
            self.fault.payload.i.eq(position.i),
            self.fault.payload.j.eq(position.j),
            self.free.valid.eq(self.released.valid & (self.released.context[:bits] == self._segments - 1)),
            self.free.wave.eq(self.released.context[bits:]),
        ]
        positions.write(m, self.wavefront.wave, self.wavefront.wavefront, self.wavefront.valid)
        valid_mask.write(m, end.wave, end.valid_mask, taken)
        with m.If(taken):
            m.d.sync += [wave.eq(end.wave), faulted.eq(faults), number.eq(0)]
        with m.Elif(busy & self.can_retire):
            m.d.sync += number.eq(number + 1)
        for context, state in zip(self.contexts, self.states, strict=True):
            of_wave, ended_mask = positions.read(m, context[bits:]), valid_mask.read(m, context[bits:])
            first = context[:bits] if bits else Const(0, 1)
            m.d.comb += [
                state.i.eq(of_wave.i + first * (lanes // 2)),
                state.j.eq(of_wave.j),
                state.covered.eq(of_wave.covered.word_select(first, lanes)),
                state.valid_mask.eq(ended_mask.word_select(first, lanes)),
            ]
        return m
