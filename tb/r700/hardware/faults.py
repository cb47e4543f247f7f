"""Single mistakes in a core that the comparison of random programs must find."""

from ctm.tb.lib.planting import faults_in

FAULTS = [
    *faults_in(
        "rtl.r700.flow.branches",
        ("inverted = flow.row.mask & ~state.branch_mask", "inverted = flow.row.mask"),
        ("flow.pops.eq(flow.pops - 1)", "flow.pops.eq(0)"),
        ("call.target.eq(state.pc + 1)", "call.target.eq(instruction.target)"),
    ),
    *faults_in(
        "rtl.r700.flow.loops",
        (
            "            state.continue_mask.eq(0),\n            state.branch_mask.eq(last.mask),",
            "            state.branch_mask.eq(last.mask),",
        ),
        ("            state.index.eq(index.index),\n", ""),  # aL is kept after a loop.
        ("rounds.rounds != 1", "rounds.rounds != 0"),
        ("                state.break_mask.eq(~flow.test),\n", "                state.break_mask.eq(0),\n"),
        # A break ends the iteration when no pixel is active, though pixels wait in a branch.
        (
            "(flow.entry[LOOP_SUBENTRIES - 1].mask & ~break_mask & ~continue_mask).any()",
            "(state.branch_mask & ~break_mask & ~continue_mask).any()",
        ),
        ("        state.branches.eq(below.branches),\n", ""),
    ),
    *faults_in(
        "rtl.r700.flow.unit",
        # A clause that is skipped takes the pixels of the one before out of a loop.
        ("flow.second.eq(0), flow.cleared.eq(0)]", "flow.second.eq(0)]"),
    ),
    *faults_in("rtl.r700.flow.execution", ("with m.If(pushes):", "with m.If(pushes & flow.active.any()):")),
    *faults_in(
        "rtl.r700.flow.wavefront",
        ("self.active & Mux(instruction.valid_pixels, state.valid_mask & state.covered, ~0)", "self.active"),
    ),
    *faults_in(
        "rtl.r700.alu.effects",
        ("setter & before.branch_mask & ~self.predicate", "before.branch_mask & ~self.predicate"),
        ("gate & self.kill[slot]", "self.kill[slot]"),
        ("gate.eq(self.executing & ~before.predicate)", "gate.eq(~before.predicate)"),
    ),
    *faults_in(
        "rtl.r700.alu.clauses", ("found.eq(Mux(clause.whole, whole_quads(m, active), active))", "found.eq(active)")
    ),
    *faults_in(
        "rtl.r700.alu.unit",
        ("last.eq(~decode.relative | ~others.any())", "last.eq(1)"),
        ("(self._phase != 0) & (self._phase != intervals.interval - 1)", "self._phase != 0"),
    ),
    *faults_in(
        "rtl.r700.alu.pixel_decode", ("second.eq(self.decoded.pairs[1].row)", "second.eq(self.decoded.pairs[0].row)")
    ),
    *faults_in(
        "rtl.r700.alu.pipeline.writeback",
        ("(trans.channel == channel), gates[TRANS_SLOT], 0)", "(trans.channel == channel), gates[0], 0)"),
    ),
    *faults_in("rtl.r700.alu.pipeline.pipeline", ("write.en.eq((passes & pixels).any())", "write.en.eq(passes.any())")),
    *faults_in("rtl.r700.registers.addressing", ("is_temporary = ~relative & (", "is_temporary = (")),
    *faults_in("rtl.r700.fetch.sequencer", ("named = (self.written & own).any() | ", "named = ")),
    *faults_in("rtl.r700.registers.writing", ("Mux(select == ComponentSelect.ONE.value, ONE, 0)", "Value.cast(0)")),
]

SLICED = [
    *faults_in(
        "rtl.r700.partition", ("return Cat(pixel[0], pixel[2:]), pixel[1]", "return Cat(pixel[0], pixel[2:]), Const(0)")
    ),
    *faults_in("rtl.r700.start", ("row.eq(base + number[-bits:] * count)", "row.eq(base)")),
    *faults_in(
        "rtl.r700.alu.pipeline.writeback",
        ("slice_of(self.gates[slot], number)", "slice_of(self.gates[slot], ~number)"),
    ),
    *faults_in("rtl.r700.registers.addressing", ("upcoming.eq(base + rows_of(gprs))", "upcoming.eq(base + gprs)")),
    *faults_in(
        "rtl.r700.fetch.sequencer",
        ("micro_op.clause.base.eq(clause.base + self.slice * rows)", "micro_op.clause.base.eq(clause.base)"),
    ),
    *faults_in(
        "rtl.r700.fetch.executor", ("first + Value.cast(current.slice) * (self._partition.slice // 2)", "first")
    ),
    *faults_in("rtl.r700.fetch.finders.share", ("quad = Cat(in_slice, self.slice)", "quad = Cat(in_slice)")),
    *faults_in(
        "rtl.r700.fetch.writers.exports",
        ("(writes - 1).bit_length()], current.slice)", "(writes - 1).bit_length()])"),
    ),
]
"""And in one that has a wavefront in slices."""
