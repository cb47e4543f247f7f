"""An array that looks like one core with the wave slots of all, so that a core's simulation runs it."""

from dataclasses import replace
from typing import Any

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import code_client
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.array import Array, array_members
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.pe.dispatcher import Dispatcher
from ctm.rtl.r5xx.code.reader import ask_together
from ctm.rtl.r5xx.instruction_client import InstructionClient
from ctm.rtl.r5xx.instruction_set import R5XX
from ctm.rtl.r5xx.shapes import SHAPES
from ctm.rtl.r5xx.trace import traced_members


def as_one_core(config: MachineConfig) -> MachineConfig:
    """The configuration of a core with as many wave slots as the array has."""
    array = config.array
    return replace(config, array=replace(array, cores=1, threads=array.threads * array.cores))


class _CodeFromOutside(wiring.Component):
    """A code reader for simulations of a core: it is given single instructions, not lines."""

    def __init__(self, config: MachineConfig) -> None:
        super().__init__(
            {
                "address": In(ADDRESS_BITS),
                "cores": In(InstructionClient()).array(config.array.cores),
                "lines": Out(code_client(config.memory.slice_bits)),
                "client": Out(InstructionClient()),
            }
        )

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        ask_together(m, self.cores, self.client)
        return m


class ArrayAsCore(wiring.Component):
    """An array of a power of two of cores. Fetches of all cores share a port; there is no trace."""

    def __init__(self, config: MachineConfig) -> None:
        self._config, self._code = config, _CodeFromOutside(config)
        self._array = Array(config, replace(R5XX, code_reader=lambda _: self._code))
        array = as_one_core(config).array
        super().__init__(traced_members(array))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.submodules.array = array = self._array
        own, cores, ports = wave_bits(self._config.array), self._config.array.cores, len(SHAPES.ports)
        m.submodules.fetches = fetches = Arbiter(array.fetches[0].request.payload.shape(), cores)
        for name in array_members(self._config.array, SHAPES):
            if name != "fetches":
                connect(m, getattr(array, name), flipped(getattr(self, name)))
        connect(m, flipped(self.program), array.program)
        m.submodules.allotment = allotment = Dispatcher(cores)
        wavefront = array.wavefront
        m.d.comb += [
            allotment.core.ready.eq(self.wavefront.valid),
            self.wavefront.ready.eq(allotment.core.valid),
            wavefront.valid.eq(self.wavefront.valid & allotment.core.valid),
            *(wavefront.payload[name].eq(self.wavefront.payload[name]) for name in ("i", "j", "covered")),
            wavefront.payload.core.eq(allotment.core.payload),
        ]
        for core in range(cores):
            connect(m, array.credits[core], allotment.credits[core])
        connect(m, array.report.fault, flipped(self.fault))
        connect(m, self._code.client, flipped(self.code))
        # Counts of one cycle: more than one core may issue, of which this has one.
        m.d.comb += [
            self.idle.eq(array.report.idle),
            *(self.activity.issued[port].eq(array.activity.issued[port::ports].any()) for port in range(ports)),
        ]
        request, response = self.fetches.request, self.fetches.response
        for number in range(cores):
            connect(m, array.fetches[number].request, fetches.inputs[number])
            inner = array.fetches[number].response
            is_own = response.payload.tag.wave >> own == number
            m.d.comb += [
                inner.valid.eq(response.valid & is_own),
                inner.payload.tag.wave.eq(response.payload.tag.wave[:own]),
                inner.payload.tag.entry.eq(response.payload.tag.entry),
                inner.payload.words.eq(response.payload.words),
                inner.payload.error.eq(response.payload.error),
            ]
            with m.If(is_own):
                m.d.comb += response.ready.eq(inner.ready)
        chosen = fetches.output
        m.d.comb += [
            request.valid.eq(chosen.valid),
            chosen.ready.eq(request.ready),
            *(request.payload[name].eq(chosen.payload[name]) for name, _ in chosen.payload.shape() if name != "tag"),
            request.payload.tag.entry.eq(chosen.payload.tag.entry),
            request.payload.tag.wave.eq(Cat(chosen.payload.tag.wave, fetches.source)),
        ]
        return m
