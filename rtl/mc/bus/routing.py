"""Which memory port a line belongs to."""

from dataclasses import dataclass

from amaranth import Const, Mux, Value

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_OFFSET_BITS


@dataclass(frozen=True, kw_only=True)
class Routing:
    """Lines by their addresses: those below `split` go to the `local` ports, others to one more port.

    `local` is a power of two. Lines lie in turn behind two local ports; of four, the upper bit of the port's number is
    that of the line's exclusive OR the bit two places above it. So neighbouring lines go to all ports, and lines in the
    same place of neighbouring tiles, which cores that compute the same at the same time ask for or write, do, too.
    (Permutation-based interleaving: Zhang, Zhu, Zhang, 2000.) The lowest bit stays, because lines are in banks of the
    output cache by it: two banks have no port in common.
    """

    split: int
    local: int = 1

    @property
    def _has_system(self) -> bool:
        return self.split >> LINE_OFFSET_BITS < 1 << LINE_ADDRESS_BITS

    @property
    def ports(self) -> int:
        """How many there are."""
        return self.local + self._has_system

    def port(self, line: Value) -> Value:
        """The port of a line."""
        permuted = line ^ (line[3] << 1)
        local: Value = permuted[: (self.local - 1).bit_length()] if self.local > 1 else Const(0, 1)
        return Mux(line >= self.split >> LINE_OFFSET_BITS, self.local, local) if self._has_system else local
