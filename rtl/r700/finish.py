"""Wavefronts at their end: part by part as groups of the lanes' size, as tests and outputs take them.

Source: docs/architecture.md.
"""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import program_fault_layout, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import row_bits, slot_bits
from ctm.rtl.dpp.groups.state import end_state_layout
from ctm.rtl.isa.r700.program import PROGRAM_FORMAT
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.flow.state import end_layout
from ctm.rtl.r700.passes import by_part, parts_of


class WavefrontEnd(wiring.Component):
    """Hands over the parts of wavefronts that are at their end, and says when all of one are done.

    Members
    -------
    group : ``In({valid, slot, group})``
        A group takes a slot.
    end : ``In(stream.Signature(end_layout(config)))``
    retire : ``Out({valid, row, faulted})``
    can_retire : ``In(1)``
    rows : ``In(row)``, 2 of them
    states : ``Out(end_state_layout(lanes))`` for each of them
    released : ``In({valid, row, faulted})``
    free : ``Out({valid, slot})``
    fault : ``Out(stream.Signature(program_fault_layout(PROGRAM_FORMAT), always_ready=True))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config, self._parts = config, parts_of(config)
        rows = by_part(config)
        event = data.StructLayout({"valid": 1, "row": row_bits(rows), "faulted": 1})
        at_slot = {"valid": 1, "slot": slot_bits(config)}
        super().__init__(
            {
                "group": In(data.StructLayout(at_slot | {"group": wavefront_layout(config.group)})),
                "end": In(stream.Signature(end_layout(config))),
                "retire": Out(event),
                "can_retire": In(1),
                "rows": In(row_bits(rows)).array(2),
                "states": Out(end_state_layout(config.lanes)).array(2),
                "released": In(event),
                "free": Out(data.StructLayout(at_slot)),
                "fault": Out(stream.Signature(program_fault_layout(PROGRAM_FORMAT), always_ready=True)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, lanes = self._config, self._config.lanes
        m.submodules.places = places = DistributedRam(wavefront_layout(config.group), config.threads)
        m.submodules.valid_mask = valid_mask = DistributedRam(config.group, config.threads)
        bits = (self._parts - 1).bit_length()
        slot, faulted, number = Signal(slot_bits(config)), Signal(), Signal(range(self._parts + 1), init=self._parts)
        busy = number != self._parts
        end, taken = self.end.payload, Signal()
        faults = Value.cast(end.problem.status) != Status.OK.value
        place = places.read(m, end.slot)
        m.d.comb += [
            self.end.ready.eq(~busy),
            taken.eq(self.end.valid & ~busy),
            self.retire.valid.eq(busy),
            self.retire.row.eq(Cat(number[:bits], slot)),
            self.retire.faulted.eq(faulted),
            self.fault.valid.eq(taken & faults),
            self.fault.payload.status.eq(end.problem.status),
            self.fault.payload.client.eq(end.problem.client),
            self.fault.payload.pc.eq(Cat(end.word[:-1], end.problem.address)),
            self.fault.payload.i.eq(place.i),
            self.fault.payload.j.eq(place.j),
            self.free.valid.eq(self.released.valid & (self.released.row[:bits] == self._parts - 1)),
            self.free.slot.eq(self.released.row[bits:]),
        ]
        places.write(m, self.group.slot, self.group.group, self.group.valid)
        valid_mask.write(m, end.slot, end.valid_mask, taken)
        with m.If(taken):
            m.d.sync += [slot.eq(end.slot), faulted.eq(faults), number.eq(0)]
        with m.Elif(busy & self.can_retire):
            m.d.sync += number.eq(number + 1)
        for row, state in zip(self.rows, self.states, strict=True):
            of_slot, ended_mask = places.read(m, row[bits:]), valid_mask.read(m, row[bits:])
            first = row[:bits] if bits else Const(0, 1)
            m.d.comb += [
                state.i.eq(of_slot.i + first * (lanes // 2)),
                state.j.eq(of_slot.j),
                state.covered.eq(of_slot.covered.word_select(first, lanes)),
                state.valid_mask.eq(ended_mask.word_select(first, lanes)),
            ]
        return m
