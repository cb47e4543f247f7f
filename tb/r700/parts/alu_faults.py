"""Single mistakes in what executes ALU clauses."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault
from ctm.tb.r700.parts.places import faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "alu.test_clauses": faults_in(
        "alu.clauses",
        ("min(CONTEXTS, config.threads)", "CONTEXTS"),
        ("mask[first : first + 4].any()", "mask[first : first + 3].any()"),
        ("active.eq(masks.branch & clause.inside)", "active.eq(masks.branch)"),
        ("active.eq(masks.branch & clause.inside)", "active.eq(clause.branch & clause.inside)"),
        ("Mux(clause.whole, whole_quads(m, active), active)", "whole_quads(m, active)"),
        ("== intervals.interval - 1:", "== intervals.interval - 2:"),
        (", self.addresses.read(m, ending)", ", self.addresses.read(m, issued)"),
        ("interval - 1, issued, ending)", "interval - 1, ending, issued)"),
        ("Table(shape, contexts_of(config))", "Table(shape, contexts_of(config) - 1)"),
    ),
    "alu.test_intervals": faults_in(
        "alu.intervals",
        ("self.choice + 1 + self.lane_latency", "self.choice + self.lane_latency"),
        ("self.first + self.passes - 1", "self.first + self.passes"),
        ("(self.last + 2)", "(self.last + 1)"),
        ("-(-(self.last + 2) // self.interval)", "(self.last + 2) // self.interval + 1"),
        ("interval=max(PERIOD, passes)", "interval=PERIOD"),
        ("return cycle % PERIOD", "return cycle % READ_CYCLES"),
    ),
}
"""By the test whose `compare` finds them."""
