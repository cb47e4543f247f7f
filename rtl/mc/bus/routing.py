"""Which memory port a line belongs to."""

from dataclasses import dataclass

from amaranth import Const, Mux, Value

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_OFFSET_BITS


@dataclass(frozen=True, kw_only=True)
class Routing:
    """Lines by their addresses: those below `split` go to the `local` ports, others to one more, the system port.

    `split` is a byte address, a multiple of a line's bytes; with that of all memory there is no system port.
    `local` is 1, 2 or 4. Lines are interleaved over the local ports. With four, the upper bit of the port's number
    is the line's bit 1 exclusive OR its bit 3 (permutation-based interleaving: Zhang, Zhu, Zhang, 2000). So four
    lines from a multiple of four on use all ports, and lines that are an odd multiple of eight apart use different
    ones: cores that run the same program often access such lines at the same time. Bit 0 is not permuted, because
    two banks of the output cache are told apart by it: with several local ports they use different ones.
    """

    split: int
    local: int = 1

    @property
    def _has_system(self) -> bool:
        return self.split >> LINE_OFFSET_BITS < 1 << LINE_ADDRESS_BITS

    @property
    def ports(self) -> int:
        """The number of ports."""
        return self.local + self._has_system

    def port(self, line: Value) -> Value:
        """The number of the port of a line, by the line's number. The system port is the last one."""
        permuted = line ^ (line[3] << 1)
        local: Value = permuted[: (self.local - 1).bit_length()] if self.local > 1 else Const(0, 1)
        return Mux(line >= self.split >> LINE_OFFSET_BITS, self.local, local) if self._has_system else local
