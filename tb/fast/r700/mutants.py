"""Single mistakes in the translation of R700 programs, each with the check that has to find it."""

from dataclasses import dataclass
from typing import Any

from ctm.tb.lib.planting import Fault


@dataclass(frozen=True)
class Mutant:
    """A mistake. `check` is a test of a module below `ctm.tb`, which fails with one of `arguments` at least."""

    name: str
    fault: Fault
    module: str
    check: str
    arguments: tuple[tuple[Any, ...], ...] = ((),)

    def __str__(self) -> str:
        return self.name


_FLOW = ("fast.r700.test_random_flow", "test_random_structures", tuple((seed,) for seed in range(40)))
_GROUPS = ("fast.r700.test_random_groups", "test_random_clauses", tuple((seed,) for seed in range(9)))
_KNOWN = ("fast.r700.test_known_values", "check", tuple((seed,) for seed in range(10)))


def _example(module: str, check: str, *arguments: Any) -> tuple[str, str, tuple[tuple[Any, ...], ...]]:
    """One of the golden model's own tests."""
    return f"r700.test_{module}_examples", check, (arguments,)


def _mutant(name: str, module: str, old: str, new: str, found: tuple[str, str, tuple[tuple[Any, ...], ...]]) -> Mutant:
    return Mutant(name, Fault(f"sim.engines.fast.{module}", old, new), *found)


MUTANTS = [
    _mutant("a clause that breaks continues", "r700.translation",
            "breaks=word.operation is AluClause.ALU_BREAK)", "breaks=False)", _FLOW),
    _mutant("a wavefront without active lanes continues", "r700.translation", "        if killed:\n",
            "        if False:\n", _FLOW),
    _mutant("lanes instead of quads", "r700.translation", "if word.whole_quads else mask", "if False else mask",
            _example("pixel", "test_whole_quads_execute", 16)),
    _mutant("aL is not restored after a loop", "r700.masks",
            "        builder.store(self._get(entry, _LOOP_INDEX), self._loop_index)\n", "", _FLOW),
    _mutant("the count of active lanes does not change", "r700.masks",
            "        kernel.counts.change(self._lanes.all, active, kernel.frame.wavefront_lanes)\n", "", _FLOW),
    _mutant("ELSE takes all", "r700.masks", "builder.and_(self._get(entry, BRANCH), builder.not_(branch))",
            "builder.or_(self._get(entry, BRANCH), builder.not_(branch))", _FLOW),
    _mutant("one entry is popped of several", "r700.flow", "self._masks.pop(depth - count)",
            "self._masks.pop(depth - 1)", _FLOW),
    _mutant("branches cost no more than others", "r700.graph",
            "+ FIRST_BRANCH_SUBENTRIES * (EntryKind.BRANCH in kinds)", "",
            ("r700.test_stack", "test_worked_out_nests", ((["PUSH"] * 3, 2),))),
    _mutant("PV only where something is written", "r700.alu",
            "{slot.position: outcome.words for slot, outcome in zip(slots, outcomes, strict=True)}",
            "{slot.position: self._lanes.where(gate, outcome.words, self._lanes.none)"
            " for slot, outcome, gate in zip(slots, outcomes, gates, strict=True)}", _GROUPS),
    _mutant("PS is PV.x", "r700.operands", "return state.previous[number]",
            "return state.previous[0 if number == 4 and 0 in state.previous else number]", _GROUPS),
    _mutant("a predicate that nothing gates", "r700.alu",
            "state.predicate = lanes.where(gate, condition, state.predicate)", "state.predicate = condition",
            _example("alu", "test_a_predicate_gates_what_a_word_does")),
    _mutant("an index that nothing gates", "r700.alu", "self._lanes.where(gate, outcome.address, before)",
            "outcome.address", _example("alu", "test_a_predicate_gates_address_kill_and_mask")),
    _mutant("rows of constants go round", "r700.constants",
            "        if row >= FLOAT_CONSTANTS:\n            return self._lanes.none\n",
            "        row %= FLOAT_CONSTANTS\n", _example("alu", "test_rows_after_the_constants_are_zero")),
    _mutant("MULADD fused", "r700.formulas.arithmetic", "return _add(unit, _multiply(unit, a, b), c)",
            'return unit.lanes.words(unit.lanes.apply("fma", *map(unit.lanes.as_floats, (a, b, c))))',
            _example("alu", "test_multiplication_is_rounded_before_the_sum")),
    _mutant("MUL with the zeros of IEEE", "r700.formulas.arithmetic", '"MUL": _multiply,', '"MUL": _multiply_ieee,',
            _example("alu", "test_zero_times_infinity")),
    _mutant("indices of 8 bits", "r700.formulas.conversion", "lanes.integer(HIGHEST_INDEX)), lanes",
            "lanes.integer(HIGHEST_INDEX >> 1)), lanes",
            _example("alu", "test_indices_saturate", "MOVA_INT", "#000000fe", 254)),
    _mutant("operands that LLVM knows", "r700.operands", "if is_float else words", "if False else words", _KNOWN),
    _mutant("exports of all components", "r700.exports", "if select != ComponentSelect.MASK.value:",
            "if select <= ComponentSelect.MASK.value:",
            _example("export", "test_selects", "EXPORT", (7, 0, 7, 5), (None, 1, None, 0x3F800000))),
    _mutant("memory of killed pixels", "r700.exports", "stores = self._lanes.builder.and_(executing, valid_mask)",
            "stores = executing", _example("memory", "test_which_pixels_write")),
    _mutant("the first write is kept", "r700.memory",
            "for lane in range(lanes.width):\n            for addresses",
            "for lane in reversed(range(lanes.width)):\n            for addresses",
            _example("memory", "test_the_last_write_of_an_instruction_is_kept", 16)),
    _mutant("a stride from pixel to pixel", "r700.share", "lane // LDS_BANKS * instruction.stride",
            "lane * instruction.stride", _example("share", "test_every_pixel_writes_its_own_address", 4, 0, 7, 4)),
    _mutant("the address of lane 0", "r700.share", "lanes.lowest(self._masks.active)", "lanes.lowest(lanes.all)",
            _example("share", "test_a_broadcast_reads_the_address_of_the_lowest_active_pixel")),
    _mutant("differences of the other row", "r700.texture", "GET_GRADIENTS_H: (3, 2)", "GET_GRADIENTS_H: (1, 0)",
            _example("fetch", "test_differences_are_those_of_one_pair_of_the_quad")),
]  # fmt: skip
