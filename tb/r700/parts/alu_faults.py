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
    "alu.test_decode": faults_in(
        "alu.decode",
        ("mode == IndexMode.LOOP.value, indices.loop", "mode == IndexMode.AR_W.value, indices.loop"),
        ("Array(channels)[mode[:2]]", "Array(channels)[mode[:1]]"),
        ("signed(LOOP_INDEX_BITS + 1)", "signed(LOOP_INDEX_BITS)"),
        ("signed(len(pair.row) + 2)", "signed(len(pair.row) - 1)"),
        ("(row >= 0) & (row < FLOAT_CONSTANTS)", "(row < FLOAT_CONSTANTS)"),
        ("(row >= 0) & (row < FLOAT_CONSTANTS)", "(row >= 0)"),
        (
            "Mux(pair.relative, offset_of(m, self.indices, mode), Const(0, signed(2)))",
            "offset_of(m, self.indices, mode)",
        ),
        ("(~pair.relative | self.anybody)", "self.anybody"),
        ("(~pair.relative | self.anybody)", "1"),
        ("pair.used & target.exists &", "pair.used &"),
        ("~self.missing[number] & self.refused", "self.refused"),
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
            ("(self.operands[slot] > number)", "(self.operands[slot] >= number)"),
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
}
"""By the test whose `compare` finds them."""
