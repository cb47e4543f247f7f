"""An array that looks like one core with the slots of all, so that a core's simulation runs it."""

from dataclasses import replace
from typing import Any

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.programs import PROGRAM_FAULT, group_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.array import Array, array_members
from ctm.rtl.dpp.core_border import memory_members
from ctm.rtl.dpp.groups.scheduling import PORTS, slot_bits
from ctm.rtl.dpp.program import PROGRAM
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.r5xx.trace import trace_layout


def as_one_core(config: MachineConfig) -> MachineConfig:
    """The configuration of a core with as many slots as the array has."""
    array = config.array
    return replace(config, array=replace(array, cores=1, threads=array.threads * array.cores))


class ArrayAsCore(wiring.Component):
    """An array of a power of two of cores. Lookups of all cores share a port; there is no trace."""

    def __init__(self, config: MachineConfig) -> None:
        self._config, self._array = config, Array(config)
        array = as_one_core(config).array
        super().__init__(
            {
                "program": In(PROGRAM),
                "forget_code": In(1),
                "forget_constants": In(1),
                "group": In(stream.Signature(group_layout(array.lanes))),
                "fault": Out(stream.Signature(PROGRAM_FAULT, always_ready=True)),
                "idle": Out(1),
                "issued": Out(PORTS),
                "trace": Out(trace_layout(array)),
                **memory_members(array),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.array = array = self._array
        own, cores = slot_bits(self._config.array), self._config.array.cores
        m.submodules.lookups = lookups = Arbiter(array.lookup_request[0].payload.shape(), cores)
        for name in array_members(self._config.array):
            if not name.startswith("lookup"):
                inner, outer = getattr(array, name), flipped(getattr(self, name))
                connect(m, inner, outer)
        for name in ("program", "forget_code", "forget_constants"):
            m.d.comb += getattr(array, name).eq(getattr(self, name))
        connect(m, array.group, flipped(self.group))
        connect(m, array.fault, flipped(self.fault))
        # Counts of one cycle: more than one core may issue, of which this shows one.
        m.d.comb += [
            self.idle.eq(array.idle),
            *(self.issued[port].eq(array.issued[port::PORTS].any()) for port in range(PORTS)),
        ]
        request, response = self.lookup_request, self.lookup_response
        for number in range(cores):
            connect(m, array.lookup_request[number], lookups.inputs[number])
            inner = array.lookup_response[number]
            is_own = response.payload.tag.slot >> own == number
            m.d.comb += [
                inner.valid.eq(response.valid & is_own),
                inner.payload.tag.slot.eq(response.payload.tag.slot[:own]),
                inner.payload.tag.entry.eq(response.payload.tag.entry),
                inner.payload.words.eq(response.payload.words),
                inner.payload.refused.eq(response.payload.refused),
            ]
            with m.If(is_own):
                m.d.comb += response.ready.eq(inner.ready)
        chosen = lookups.output
        m.d.comb += [
            request.valid.eq(chosen.valid),
            chosen.ready.eq(request.ready),
            *(request.payload[name].eq(chosen.payload[name]) for name, _ in chosen.payload.shape() if name != "tag"),
            request.payload.tag.entry.eq(chosen.payload.tag.entry),
            request.payload.tag.slot.eq(Cat(chosen.payload.tag.slot, lookups.source)),
        ]
        return m
