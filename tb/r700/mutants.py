"""Single mistakes in the model, each with the check that has to find it."""

from dataclasses import dataclass

from ctm.tb.lib.planting import Fault


@dataclass(frozen=True)
class Mutant:
    """A mistake. `check` is a function of a test module of this folder, with its arguments."""

    name: str
    fault: Fault
    module: str
    check: str
    arguments: tuple = ()

    def __str__(self) -> str:
        return self.name


_FLOW = ("test_flow_random", "check_many", (0, 60))
_GROUPS = ("test_groups_random", "check_many", (0, 4))


def _mutant(name: str, module: str, old: str, new: str, found: tuple) -> Mutant:
    return Mutant(name, Fault(f"sim.golden.r700.{module}", old, new), *found)


def _case(file: str, name: str) -> tuple:
    """One case of a table of faults."""
    return file, "find", (name,)


_POPPED = 'batch.branch_mask = _top(batch, EntryKind.BRANCH, "a pop")[BRANCH]'
_ALL_REDUCED = "result = fp.dot(first, second, zero_times_anything=zero_times_anything, clean=clean)"
_ONE_BY_ONE = """result = fp.multiply(first[0], second[0], zero_times_anything=zero_times_anything)
        for a, b in zip(first[1:], second[1:], strict=True):
            result = fp.multiply_then_add(a, b, result, zero_times_anything=zero_times_anything)"""
_AFTER_RETURN = """                target = flow.take_return(subset)
            except flow.StackError as error:
                batches += self._fault(subset, error)
            else:
                subset.control = subset.control.at_word(target)"""
_BEFORE_RETURN = """                subset.control = subset.control.at_word(flow.take_return(subset))
            except flow.StackError as error:
                batches += self._fault(subset, error)
            else:"""
_PLACED = "space[address[chosen] // WORD_BYTES] = words.T.ravel().view(np.uint32)[chosen]"
_PLACED_BACKWARDS = "space[(address[chosen] // WORD_BYTES)[::-1]] = words.T.ravel().view(np.uint32)[chosen][::-1]"
_SOURCE = "        return read_register(batch, number)\n"
_OLD_SOURCE = """        if batch.control.item == 0:
            self._old = batch.temporaries.copy()
        return self._old[number] if number is not None else read_register(batch, None)
"""

FLOW = [
    _mutant("POP restores the masks of a loop", "flow", _POPPED, _POPPED + """
        batch.continue_mask = batch.continue_mask & ~batch.branch_mask
        batch.break_mask = batch.break_mask & ~batch.branch_mask""", _FLOW),
    _mutant("JUMP pops first", "words", "no_lanes, lambda subset: None)",
            "no_lanes, lambda subset: flow.pop(subset, word.pop_count))", _FLOW),
    _mutant("break jumps when no pixel is active", "flow",
            "return ~batch.any_lane(entered & ~batch.break_mask & ~batch.continue_mask)",
            "return ~batch.any_lane(batch.active)", _FLOW),
    _mutant("no push when no pixel is active", "execution", "if pushes and not", "if pushes and entered and not",
            ("test_flow_examples", "test_entries_of_a_branch_are_made_even_without_a_pixel", ())),
    _mutant("an inner loop revives continued pixels", "flow",
            "    _push(batch, program, entry, np.stack([batch.branch_mask, ",
            """    test = test | batch.continue_mask & batch.branch_mask
    _push(batch, program, entry, np.stack([batch.branch_mask, """,
            ("test_flow_examples", "test_continued_pixels_stay_out_of_an_inner_loop", ())),
    _mutant("a call is kept on the stack", "words", _AFTER_RETURN, _BEFORE_RETURN, _FLOW),
    _mutant("a skipped break takes pixels of before", "execution",
            "        batch.cleared = np.zeros_like(batch.cleared)\n", "",
            ("test_flow_examples", "test_a_clause_that_is_skipped_takes_no_pixel_out_of_a_loop", ("ALU_BREAK",))),
    _mutant("ELSE takes all", "flow", '"ELSE")[BRANCH] & ~batch.branch_mask',
            '"ELSE")[BRANCH] | ~batch.branch_mask', _FLOW),
    _mutant("ELSE of a false condition inverts", "words", "            if inverts:\n",
            "            if inverts or subset.size:\n", _FLOW),
    _mutant("aL is kept after a loop", "flow",
            "    batch.control = batch.control._replace(loop_index=batch.control.stack[-1].loop_index)\n", "", _FLOW),
    _mutant("aL of 8 bits", "flow", "1 << LOOP_INDEX_BITS", "1 << LOOP_INDEX_BITS - 1",
            ("test_flow_examples", "test_loop_constants", (1, [5, 507, 497]))),
    _mutant("a loop of no rounds", "words", "flow.rounds(self._program, word) == 0",
            "flow.rounds(self._program, word) == 999", ("test_flow_examples", "test_loop_constants", (0, []))),
    _mutant("calls without a limit", "flow", "<= CALL_DEPTH", "<= CALL_DEPTH + 1",
            ("test_flow_examples", "test_calls_are_counted", (16, 17, 1))),
    _mutant("the end of a loop keeps what is above", "flow",
            "    unwind(batch, word)\n    entry, masks", "    entry, masks",
            ("test_flow_examples", "test_the_end_of_a_loop_removes_what_is_above_it", ())),
    _mutant("a second loop costs nothing", "flow", "cost = sum(_COSTS[each.kind] for each in stack)",
            "cost = sum(_COSTS[each] for each in {each.kind for each in stack})",
            ("test_stack", "test_worked_out_nests", (["LOOP_START_NO_AL"] * 64, 64))),
    _mutant("the two subentries are taken once for all", "flow",
            "        cost += FIRST_BRANCH_SUBENTRIES", "        cost += 0",
            ("test_stack", "test_worked_out_nests", (["PUSH"] * 3, 2))),
    _mutant("uncovered pixels are inactive", "execution", "        self._set_registers(batch)\n",
            """        batch.branch_mask = covered.copy()
        batch.update_active()
        self._set_registers(batch)
""", ("test_pixel_examples", "test_uncovered_pixels_compute", ())),
    _mutant("killed pixels are inactive", "alu", "        batch.valid_mask &= ~(effective & condition)\n",
            """        batch.valid_mask &= ~(effective & condition)
        batch.branch_mask &= batch.valid_mask
        batch.update_active()
""", ("test_pixel_examples", "test_killed_pixels_compute", ("instruction",))),
]  # fmt: skip
GROUPS = [
    _mutant("slot t preferred for the last word", "decode.groups",
            "is_free = operation.slots is not Slots.ANY or channel not in positions",
            'is_free = operation.slots is not Slots.ANY or channel not in positions and not word["last"]', _GROUPS),
    _mutant("sequential writes in a group", "alu",
            "outcomes = [_compute(batch, program, run, executing) for run in group.runs]",
            "outcomes = (_compute(batch, program, run, executing) for run in group.runs)", _GROUPS),
    _mutant("gates of a reduction", "alu", "return run.slots if run.slots[0].operation.is_reduction else run.slots[:1]",
            "return run.slots[:1] * (len(run.slots) if run.slots[0].operation.is_reduction else 1)", _GROUPS),
    _mutant("MULADD fused", "formulas.arithmetic",
            "fp.multiply_then_add(a, b, c, zero_times_anything=True, clean=clean)",
            "fp.multiply_add(a, b, c, zero_times_anything=True)",
            ("test_alu_examples", "test_multiplication_is_rounded_before_the_sum", ())),
    _mutant("reciprocals off by one", "formulas.transcendental", '"RECIP_IEEE": fp.rcp,',
            '"RECIP_IEEE": lambda x, *, clean=False: np.nextafter(fp.rcp(x, clean=clean), np.float32(0)),',
            ("test_alu_examples", "test_slot_t", ("RECIP_IEEE", "#40400000", 0x3EAAAAAB))),
    _mutant("PV over an empty slot", "decode.groups", "produced = frozenset(slot.position for slot in group.slots)",
            "produced |= frozenset(slot.position for slot in group.slots)",
            _case("test_faults_alu", "PS of the group before the last")),
    _mutant("MUL with the zeros of IEEE", "formulas.arithmetic", '"MUL": _multiply(zero_times_anything=True)',
            '"MUL": _multiply(zero_times_anything=False)', ("test_alu_examples", "test_zero_times_infinity", ())),
    _mutant("DOT4 rounded one by one", "formulas.reduction", _ALL_REDUCED, _ONE_BY_ONE,
            ("test_groups_random", "check_many", (0, 16))),
    _mutant("a predicate that nothing gates", "alu", "np.copyto(batch.predicate, condition, where=effective)",
            "np.copyto(batch.predicate, condition)",
            ("test_alu_examples", "test_a_predicate_gates_what_a_word_does", ())),
    _mutant("indices of 8 bits", "formulas.address", "_LEAST, _MOST = -256, 255", "_LEAST, _MOST = -256, 127",
            ("test_alu_examples", "test_indices_saturate", ("MOVA_INT", "#000000fe", 254))),
    _mutant("clause temporaries by an index", "operands", "(numbers < program.information.gprs)",
            "(numbers < program.temporaries)", ("test_alu_examples", "test_registers_out_of_range", ())),
    _mutant("literals counted", "decode.groups", "max(channels) // LITERALS_PER_UNIT + 1 if channels else 0",
            "(len(set(channels)) + 1) // LITERALS_PER_UNIT",
            ("test_alu_examples", "test_literals_are_as_many_as_the_highest_that_is_named", ("z", 2))),
    _mutant("an operand that shares no read", "decode.ports",
            "    first, second = reading.operands[0], reading.operands[1]\n", "    return False\n",
            _case("test_faults_alu", "operand 1 that operand 0 does not read")),
    _mutant("rows that are not locked", "decode.groups", "illegal_if(row >= lock.rows", "illegal_if(row > lock.rows",
            _case("test_faults_alu", "row 16 of a line of set 1")),
]  # fmt: skip
MEMORY = [
    _mutant("fetches read old values", "fetches", _SOURCE, _OLD_SOURCE,
            ("test_fetch_examples", "test_a_fetch_uses_a_coordinate_of_the_same_clause", ())),
    _mutant("differences of the other row", "texture", "GET_GRADIENTS_H: (3, 2)", "GET_GRADIENTS_H: (1, 0)",
            ("test_fetch_examples", "test_differences_are_those_of_one_pair_of_the_quad", ())),
    _mutant("offsets before the floor of the coordinate", "texture", "halves + instruction.offsets[axis] >> 1",
            "(halves >> 1) + (instruction.offsets[axis] >> 1)",
            ("test_fetch_examples", "test_coordinates_that_count_elements", ("#40200000", "#3ff00000", 1, 0, (3, 1)))),
    _mutant("half an element of constants", "vertex", "first + instruction.channels <= _WORDS", "first < _WORDS",
            ("test_fetch_examples", "test_bounds_of_the_constants", (35, 255, 4, None))),
    _mutant("the bound without its last element", "memory", "(base + size + 1) * element", "(base + size) * element",
            ("test_memory_examples", "test_bounds_and_bursts", (0, 0, 0, {8: 1}))),
    _mutant("a signed index", "memory", "words[component].view(np.uint32).astype(np.int64)",
            "words[component].view(np.int32).astype(np.int64)",
            ("test_memory_examples", "test_areas_with_an_index", (1, 5, 0xFFFFFFFB, 0, {}))),
    _mutant("the first write is kept", "memory", _PLACED, _PLACED_BACKWARDS,
            ("test_memory_examples", "test_the_last_write_of_an_instruction_is_kept", (16,))),
    _mutant("pixels numbered from column 0", "memory", "+ batch.i - domain.i0", "+ batch.i",
            ("test_memory_examples", "test_each_pixel_has_its_own_scratch", (16,))),
    _mutant("scratch of uncovered pixels", "memory", "(dword < extent(buffer) // WORD_BYTES) & batch.covered",
            "(dword < extent(buffer) // WORD_BYTES)",
            ("test_memory_examples", "test_uncovered_pixels_have_no_scratch", ())),
    _mutant("the lowest pixel's index", "share", "batch.active.reshape(-1, batch.lanes).argmax(axis=1)",
            "0 * batch.active.reshape(-1, batch.lanes).argmax(axis=1)",
            ("test_share_examples", "test_a_broadcast_reads_the_address_of_the_lowest_active_pixel", ())),
    _mutant("rows that are not aligned", "share", "dword // LDS_ROW * LDS_ROW", "dword",
            ("test_share_examples", "test_rows_and_words", ())),
    _mutant("a stride from pixel to pixel", "share",
            "lane // LDS_BANKS * instruction.stride", "lane * instruction.stride",
            ("test_share_examples", "test_every_pixel_writes_its_own_address", (4, 0, 7, 4))),
    _mutant("a share that ends a row later", "share", "exists = wanted < batch.share.shape[0]",
            "exists = wanted >= 0",
            ("test_share_examples", "test_reads_out_of_bounds", (0x40,))),
    _mutant("a relative export outside of a loop", "execution", "word.relative and not flow.is_in_loop(batch)",
            "word.relative and not word.burst", _case("test_faults_flow", "RW_REL with no loop")),
    _mutant("export of all components", "exports", "if select != ComponentSelect.MASK.value:\n                    np",
            "if select <= ComponentSelect.MASK.value:\n                    np",
            ("test_export_examples", "test_selects", ("EXPORT", (7, 0, 7, 5), (None, 1, None, 0x3F800000)))),
    _mutant("writes are waited for that cannot be", "state", "self.outstanding -= {True}",
            "self.outstanding = frozenset()",
            ("test_hazards", "test_memory_is_read_when_writes_are_acknowledged",
             ("RD_SCATTER", {"memory": True}, "MEM_EXPORT", "WAIT_ACK", 1))),
]  # fmt: skip
MUTANTS = [*FLOW, *GROUPS, *MEMORY]
