"""Single mistakes in what begins and ends wavefronts."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault
from ctm.tb.r700.parts.places import faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "parts.test_start": faults_in(
        "start",
        ("size = count * slices_of(config)", "size = count"),
        ("with m.If(behind_block >= end):", "with m.If(behind_block > end):"),
        ("(from_row & to_end)", "(from_row)"),
        ("(from_row & to_end)", "(to_end)"),
        ("number[-bits:] * count", "number[-bits:] * (count - 1)"),
        ("target.followed.eq(in_slice != last)", "target.followed.eq(number != self._passes - 1)"),
        (", number.eq(0)]", "]"),
        ("* domain.width + group.i - domain.i0", "* domain.width + group.i"),
        ("Mux(row_before, width, 0) + row * width", "row * width"),
        ("group.j + row_before + offset", "group.j + offset"),
        ("group.i + before + offset", "(group.i + before + offset)[:12]"),
        ("numbers[row] + column,", "numbers[row],"),
        ("number * lanes + lane", "number + lane"),
        ("self.share.valid.eq(self.program.share.any())", "self.share.valid.eq(self.program.share[0])"),
        ("with m.If(~self.share.valid | self.share.ready):", "with m.If(1):"),
    ),
}
"""By the test whose `compare` finds them."""
