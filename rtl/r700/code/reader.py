"""Lines of code for the code caches of all cores, each from where the code begins.

Source: docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import CODE_LINES, code_client
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.mc.bus.line_assembly import LineAssembly
from ctm.rtl.r700.shapes import CODE_LINE_CLIENT


class CodeReader(wiring.Component):
    """Reads lines for the cores' caches, up to `CODE_LINES` at a time; responses come in any order.

    Members
    -------
    address : ``In(32)``
        Unused: the programs hold the address of their code.
    cores : ``In(CODE_LINE_CLIENT)`` for each core
    lines : ``Out(code_client(config.memory.slice_bits))``
    """

    def __init__(self, config: MachineConfig) -> None:
        self._cores, self._slice_bits = config.array.cores, config.memory.slice_bits
        super().__init__(
            {
                "address": In(ADDRESS_BITS),
                "cores": In(CODE_LINE_CLIENT).array(self._cores),
                "lines": Out(code_client(self._slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.assembly = assembly = LineAssembly(range(CODE_LINES), self._slice_bits)
        wiring.connect(m, assembly.lines, wiring.flipped(self.lines))
        request, response = assembly.client.request, assembly.client.response
        m.submodules.arbiter = arbiter = Arbiter(self.cores[0].request.payload.shape(), self._cores)
        for core, inner in zip(self.cores, arbiter.inputs, strict=True):
            wiring.connect(m, wiring.flipped(core.request), inner)
        own = data.StructLayout({"tag": 1, "core": range(max(2, self._cores))})
        m.submodules.owners = owners = DistributedRam(own, CODE_LINES)
        chosen, taken = arbiter.output, Signal(CODE_LINES)
        free = lowest_one(~taken)
        goes, tag = request.valid & request.ready, one_hot_index(free)
        m.d.comb += [
            request.valid.eq(chosen.valid & free.any()),
            chosen.ready.eq(request.ready & free.any()),
            request.payload.line.eq(chosen.payload.line),
            request.payload.uncached.eq(chosen.payload.uncached),
            request.payload.tag.eq(tag),
        ]
        owners.write(m, tag, Cat(chosen.payload.tag, arbiter.source), goes)
        responded = Mux(response.valid, (1 << response.payload.tag)[:CODE_LINES], 0)
        m.d.sync += taken.eq((taken | Mux(goes, free, 0)) & ~responded)
        owner = owners.read(m, response.payload.tag)
        for number, core in enumerate(self.cores):
            m.d.comb += [
                core.response.valid.eq(response.valid & (owner.core == number)),
                core.response.payload.bits.eq(response.payload.bits),
                core.response.payload.error.eq(response.payload.error),
                core.response.payload.tag.eq(owner.tag),
            ]
        return m
