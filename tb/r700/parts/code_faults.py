"""Single mistakes in what reads code."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault
from ctm.tb.r700.parts.places import faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "code.test_reader": faults_in(
        "code.reader",
        ("chosen.ready.eq(request.ready & free.any())", "chosen.ready.eq(request.ready)"),
        ("Mux(goes, free, 0)", "free"),
        (" & ~answered", ""),
        ("Signal(CODE_LINES)", "Signal(CODE_LINES - 1)"),
        ("uncached.eq(chosen.payload.uncached)", "uncached.eq(0)"),
        ("(owner.core == number)", "(owner.core >= number)"),
        ("tag.eq(owner.tag)", "tag.eq(0)"),
        ("refused.eq(response.payload.refused)", "refused.eq(0)"),
    ),
}
"""By the test whose `compare` finds them."""
