"""Groups that the hardware does not support although the golden model executes them; see docs/design/r700-core.md."""

from collections.abc import Sequence

from ctm.rtl.isa.r700.limits import CONSTANT_PAIRS, READ_CYCLES
from ctm.tb.r700.ports import port_reads
from ctm.tb.r700.words import Slot, positions, reads

_Register = tuple[int, int | None]
"""A number, and the index that it is relative to."""


def is_unsupported(slots: Sequence[Slot]) -> bool:
    """Whether registers or constants relative to different indices are more than there are ports for."""
    ports: dict[tuple[int, int], list[_Register]] = {}
    constants = set()
    for position, each in zip(positions(slots), slots, strict=True):
        for cycle, read in port_reads(position, each.swizzle or 0, reads(each)) or ():
            register = read.number, each.index if read.relative else None
            ports.setdefault((cycle, read.channel), []).append(register)
        constants |= {
            (read.number, read.channel >= 2, each.index if read.relative else None)
            for read in reads(each)
            if read.kind == "constant"
        }
    others = {(channel, each) for (_, channel), found in ports.items() for each in found if each != found[0]}
    full = any(sum(at == channel for _, at in ports) == READ_CYCLES for channel, _ in others)
    return len(others) > 1 or full or len(constants) > CONSTANT_PAIRS
