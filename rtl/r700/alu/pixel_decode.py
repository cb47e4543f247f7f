"""A group, decoded for the first pixel that waits for it, and for all that have the same indices.

Source: docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.forwarding import forward
from ctm.rtl.r700.alu.decode import INDICES, GroupDecode
from ctm.rtl.r700.alu.effects import AddressRegisters
from ctm.rtl.r700.alu.port_schedule import DECODE_CYCLES
from ctm.rtl.r700.border.alu_clause import address_layout
from ctm.rtl.r700.border.constants import ROW_BITS

_FOUND_HERE = "indices", "any_pixel"


class PixelDecode(wiring.Component):
    """`GroupDecode` with the indices that `AddressRegisters` finds in the same cycle.

    Members
    -------
    cycle, group, kcache, produced, dx10_clamp, constants
        As those of `GroupDecode`, and so are its outputs.
    kept, is_set, pixels, alike
        As those of `AddressRegisters`.
    loop : ``In(LOOP_INDEX_BITS)``
        aL.
    row : ``Out(ROW_BITS)``
        The row of constants that is read: the first pair's in the last cycle, the second pair's in the next one;
        undefined in others.
    """

    def __init__(self, size: int, *, draws: bool = False) -> None:
        self._group, self._addresses = GroupDecode(draws=draws), AddressRegisters(size)
        of_group = {name: each for name, each in self._group.signature.members.items() if name not in _FOUND_HERE}
        super().__init__(
            {
                **of_group,
                "kept": In(address_layout(size)),
                "is_set": In(1),
                "pixels": In(size),
                "alike": Out(size),
                "loop": In(INDICES["loop"].shape),
                "row": Out(ROW_BITS),
            }
        )

    latency = DECODE_CYCLES - 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.group_decode, m.submodules.addresses = group, addresses = self._group, self._addresses
        for inner in (group, addresses):
            forward(m, self, inner, [name for name in inner.signature.members if name in self.signature.members])
        second = Signal(ROW_BITS, name="second_row", reset_less=True)
        m.d.sync += second.eq(self.decoded.pairs[1].row)
        m.d.comb += [
            group.indices.address.eq(addresses.indices),
            group.indices.loop.eq(self.loop),
            group.any_pixel.eq(self.pixels.any()),
            # The first one is read in the last cycle of decoding: both are valid in the second cycle after it.
            self.row.eq(Mux(self.cycle == DECODE_CYCLES - 1, self.decoded.pairs[0].row, second)),
        ]
        return m
