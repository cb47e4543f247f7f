"""Single mistakes in what executes ALU clauses."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault
from ctm.tb.r700.parts.planting import faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "alu.test_clauses": [
        *faults_in(
            "alu.clauses",
            ("min(CONTEXTS, config.threads)", "CONTEXTS"),
            ("active.eq(masks.branch_mask & clause.inside)", "active.eq(masks.branch_mask)"),
            ("active.eq(masks.branch_mask & clause.inside)", "active.eq(clause.branch_mask & clause.inside)"),
            ("Mux(clause.whole, whole_quads(m, active), active)", "whole_quads(m, active)"),
            ("== intervals.interval - 1:", "== intervals.interval - 2:"),
            (", self.addresses.read(m, ending)", ", self.addresses.read(m, issued)"),
            ("interval - 2, issued, ending)", "interval - 2, ending, issued)"),
            ("count = contexts_of(config)", "count = contexts_of(config) - 1"),
        ),
        *faults_in("quads", ("mask[first : first + 4].any()", "mask[first : first + 3].any()")),
    ],
    "alu.test_decode": faults_in(
        "alu.decode",
        ("mode == IndexMode.LOOP.value, indices.loop", "mode == IndexMode.AR_W.value, indices.loop"),
        ("Array(channels)[mode[:2]]", "Array(channels)[mode[:1]]"),
        ("signed(LOOP_INDEX_BITS + 1)", "signed(LOOP_INDEX_BITS)"),
        ("signed(len(pair.row) + 2)", "signed(len(pair.row) - 2)"),
        ("(row >= 0) & (row < FLOAT_CONSTANTS)", "(row < FLOAT_CONSTANTS)"),
        ("(row >= 0) & (row < FLOAT_CONSTANTS)", "(row >= 0)"),
        (
            "Mux(pair.relative, offset_of(m, self.indices, mode), Const(0, signed(2)))",
            "offset_of(m, self.indices, mode)",
        ),
        ("(~pair.relative | self.any_pixel)", "self.any_pixel"),
        ("(~pair.relative | self.any_pixel)", "1"),
        ("pair.used & target.exists &", "pair.used &"),
        ("~constants.missing[number] & constants.error", "constants.error"),
        ("target.half.eq(pair.half)", "target.half.eq(0)"),
        ("instructions.relative | reads.reads.relative", "reads.reads.relative"),
        ("self.group.illegal | ", ""),
        ("reads.kcache.eq(self.kcache)", "reads.kcache.eq(Cat(self.kcache[1], self.kcache[0]))"),
    ),
    "alu.test_instructions": [
        *faults_in(
            "alu.instructions",
            ("writes = two.write_mask | is_three", "writes = two.write_mask"),
            ("(~is_three & Value.cast(two.omod).any())", "Value.cast(two.omod).any()"),
            ("updates = ~is_three & (", "updates = ("),
            ("relative = three.dst_rel & writes", "relative = three.dst_rel"),
            ("effect.kills.eq(used & facts.kills)", "effect.kills.eq(facts.kills)"),
            ("used & ~is_three & two.update_pred", "used & two.update_pred"),
            ("(modified & ~facts.takes_modifiers)", "(three.clamp & ~facts.takes_modifiers)"),
            ("(Value.cast(low.pred_sel) == _RESERVED_PREDICATE_SELECT)", "0"),
            ("(mode > IndexMode.LOOP.value)", "(mode >= IndexMode.LOOP.value)"),
            ("return [used & wrong]", "return [wrong]"),
            ("~used[:VECTOR_SLOTS].all() | ", ""),
            ("Cat(*unlike, *others).any()", "Cat(*others).any()"),
            ("sum(sets) > 1", "sum(sets) > 2"),
            ("Cat(sets).any() & kills", "0"),
            ("moves & Cat(*destinations, *sources).any()", "moves & Cat(*destinations).any()"),
            ("(self.group.operands[slot] > number)", "(self.group.operands[slot] >= number)"),
            ("(Value.cast(effect.mode) != IndexMode.LOOP.value)", "1"),
        ),
        *faults_in(
            "code.words",
            ("(three.src2_neg & is_three)", "three.src2_neg"),
            ("Value.cast(two.src0_abs) | (Value.cast(two.src1_abs) << 1)", "Value.cast(two.src0_abs)"),
        ),
    ],
    "alu.test_intervals": faults_in(
        "alu.intervals",
        ("self.choice + 1 + self.lane_latency", "self.choice + self.lane_latency"),
        ("self.first + self.passes - 1", "self.first + self.passes"),
        ("(self.last + 2)", "(self.last + 1)"),
        ("-(-(self.last + 2) // self.interval)", "(self.last + 2) // self.interval + 1"),
        ("interval=max(PERIOD, passes)", "interval=PERIOD"),
        ("return cycle % PERIOD", "return cycle % READ_CYCLES"),
    ),
    "alu.test_pipeline": [
        *faults_in(
            "alu.pipeline.pipeline",
            ("Cat(self.valid & is_read, in_pass)", "Cat(is_read, in_pass)"),
            ("write.en.eq((passes & pixels).any())", "write.en.eq(passes.any())"),
            ("self._row(m, selected.context, number + 1)", "self._row(m, selected.context, number)"),
            ("range((load - start) // timing.interval + 1)", "range((load - start) // timing.interval)"),
        ),
        *faults_in("registers.addressing", ("base + rows_of(gprs)", "base + gprs")),
        *faults_in(
            "alu.pipeline.collector",
            ("with m.If(comes & ~is_valid):", "with m.If(0):"),
            ("by_pass[0] &= is_valid.replicate(width)", "by_pass[0] = by_pass[0]"),
            ("kept.eq(masked(by_pass[later], is_valid))", "kept.eq(by_pass[later])"),
            ("{0: range(max(last, 1), last + 1),", "{0: range(0),"),
        ),
        *faults_in(
            "alu.pipeline.selection",
            ("(wanted.source == Source.VECTOR).replicate(len(wanted.cycle))", "0"),
            ("(common & (is_uniform | scalar))", "(common & is_uniform)"),
        ),
        *faults_in(
            "alu.pipeline.gathering",
            ("held.eq(Cat(held, now)[len(now) :])", "held.eq(Cat(now, held))"),
        ),
        *faults_in(
            "alu.pipeline.writeback",
            ("(trans.channel == channel), gates[TRANS_SLOT], 0)", "(trans.channel == channel), ~0, 0)"),
            ("taken(words_trans, words[TRANS_SLOT], coming)", "taken(words_trans, words[TRANS_SLOT], ~(coming & 0))"),
            ("Mux(results.valid, target, Mux(is_trans, trans_row, other.row))", "Mux(is_trans, trans_row, other.row)"),
            ("Mux(is_trans, trans_row, other.row)", "trans_row"),
            ("(words[channel] & _by_word(enable))", "words[channel]"),
            (" | words_trans | Value.cast(other.words)", " | words_trans"),
            ("enable | enable_trans | other.enable", "enable | enable_trans"),
            ("trans_writes, trans_row, is_trans = results.valid & trans.writes & exists",
             "trans_writes, trans_row, is_trans = results.valid & exists"),
        ),
        *faults_in(
            "alu.pipeline.uniform",
            ("(wanted.source == Source.SCALAR).replicate(WORD_BITS)", "0"),
            ("Mux(is_constant, wanted.pair, wanted.channel[1])", "wanted.channel[1]"),
            ("Mux(exists, Value.cast", "Mux(1, Value.cast"),
            ("(first, Mux(is_last, second, now))", "(first, now)"),
            ("Value.cast(wanted).eq(Mux(is_last, other, one))", "Value.cast(wanted).eq(other)"),
            (
                "uniform[first_operand[0]][first_operand[1]].eq(held)",
                "uniform[first_operand[0]][first_operand[1]].eq(word)",
            ),
        ),
    ],
}  # fmt: skip
"""By the test whose `compare` finds them."""
