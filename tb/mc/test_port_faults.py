"""The tests of ports, caches, outputs, fills and registers are worth something: they find planted mistakes."""

from typing import Any

import pytest

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.tb.lib.planting import Fault, FaultyLoader, planted

PACKAGES = ("ctm.rtl.border", "ctm.rtl.mc", "ctm.rtl.lib", "ctm.rtl.r5xx.code", "ctm.tb.mc", "ctm.tb.r5xx.code")
Check = tuple[str, str, tuple[Any, ...]]

READER: Check = ("mc.test_bus_reader", "test_lines_come_whole_and_in_order", (128, 0.3, 0.3))
READER_DRAIN: Check = (
    "mc.test_bus_reader", "test_a_drain_takes_nothing_ends_bursts_and_drops_their_lines", (20, 0.3),
)  # fmt: skip
WRITER: Check = ("mc.test_bus_writer", "test_memory_has_the_bytes_and_the_client_its_responses", (False, 128, 0.3, 0.3))
WRITER_PACE: Check = ("mc.test_bus_writer", "test_bursts_follow_each_other_without_a_bubble", (False, 128))
WRITER_DRAIN: Check = (
    "mc.test_bus_writer", "test_a_drain_takes_nothing_ends_bursts_and_drops_their_responses", (False, 33, 0.8),
)  # fmt: skip
ORDER: Check = ("mc.test_reorder_buffer", "test_lines_come_in_order", ((4,), 512, (False,), 0.3, 0.0))
SLICES: Check = ("mc.test_ports", "test_others_get_each_line_when_it_comes", ("one in slices", (0.3, 0.3)))
ORDERED_SLICES: Check = (
    "mc.test_ports", "test_each_client_gets_its_lines_in_order", ("one in slices", (0.3, 0.3)),
)  # fmt: skip
READS: Check = ("mc.test_ports", "test_each_client_gets_its_lines_in_order", ("two", (0.3, 0.3)))
LOCAL_READS: Check = ("mc.test_ports", "test_each_client_gets_its_lines_in_order", ("four local", (0.3, 0.3)))
TAGGED_READS: Check = ("mc.test_ports", "test_others_get_each_line_when_it_comes", ("two local", (0.3, 0.3)))
CREDITS: Check = ("mc.test_input_cache", "test_as_many_lines_are_in_flight_as_may_be", ("small",))
LINES: Check = ("mc.test_shared_cache", "test_random_lines", ("small", "some_stalls", 3))
BANKS: Check = ("mc.test_shared_cache", "test_random_lines", ("small banks", "some_stalls", 3))
MERGED: Check = ("mc.test_shared_cache", "test_a_line_that_all_want_is_requested_once", ())
WRITES: Check = ("mc.test_ports", "test_writes_are_made_and_their_client_gets_the_responses", (64, "two", (0, 0.8)))
IDLE: Check = ("mc.test_ports", "test_a_client_is_busy_until_its_last_write_response", ("one", 1, 1))
COMBINER: Check = ("mc.test_write_combiner", "test_what_is_handed_on_is_what_was_written", ((512, 512), 18, 0, 0.3))
AGES: Check = ("mc.test_write_combiner", "test_the_oldest_leaves_when_few_entries_are_free", (16,))
WRITTEN: Check = (
    "mc.test_write_combiner",
    "test_a_line_that_is_written_while_it_is_to_leave_has_all_bytes",
    ((512, 512),),
)
FULL: Check = ("mc.test_write_combiner", "test_a_full_line_leaves_and_a_partial_one_is_kept", ((512, 512),))
OUTPUTS: Check = ("mc.test_outputs", "test_wavefronts_leave_what_the_golden_model_writes", (4, 1, 512, 0.3, 0.3))
OUTPUT_BANKS: Check = ("mc.test_outputs", "test_wavefronts_leave_what_the_golden_model_writes", (4, 4, 512, 0, 0.8))
EACH_CYCLE: Check = ("mc.test_outputs", "test_a_line_is_written_in_each_cycle", (DataFormat.FLOAT32_4, 4))
INSTRUCTIONS: Check = ("r5xx.code.test_reader", "test_instructions_come_in_order", (512, 0x7FFF_FFFC, 0.3, 0))
GAP: Check = ("r5xx.code.test_reader", "test_lines_are_read_again_after_an_idle_cycle", (512,))
TAGS: Check = ("mc.test_line_tags", "test_random_lines", (4, 2, False))
CONSTANTS: Check = ("mc.test_constant_reader", "test_constants_come_in_beats", (0.3, 0.3))
LINE_SLICES: Check = (
    "mc.test_line_cache",
    "test_each_access_gets_its_slice",
    (CacheConfig(sets=2, ways=2), 128, 512, 0.5),
)
BEATS: Check = ("mc.test_bus_writer", WRITER[1], (True, 128, 0.3, 0.3))
BEATS_DRAIN: Check = ("mc.test_bus_writer", WRITER_DRAIN[1], (True, 20, 0.8))
WRITTEN_SLICES: Check = ("mc.test_ports", WRITES[1], (64, "one in slices", (0.3, 0.3)))
COMBINED_SLICES: Check = ("mc.test_write_combiner", COMBINER[1], ((128, 64), 18, 0, 0.3))
ELEMENTS: Check = ("mc.test_outputs", OUTPUTS[1], (1, 1, 128, 0, 0))
ROWS: Check = ("mc.test_reorder_buffer", ORDER[1], ((4, 6, 6), 128, (True, False, True), 0.3, 0.3))
CODE_SLICES: Check = ("r5xx.code.test_reader", INSTRUCTIONS[1], (128, 0x7FFF_FFFC, 0.3, 0))
SYNCHRONOUS_TAGS: Check = ("mc.test_line_tags", TAGS[1], (4, 2, True))
CHANGES: Check = (
    "mc.test_conditional_port", "test_mixed_accesses_see_what_those_before_them_have_changed", (128,),
)  # fmt: skip
REGISTERS: Check = ("mc.test_registers", "test_registers_hold_what_the_model_holds", ())

FAULTS: dict[str, tuple[Fault, Check]] = {
    "a burst is one beat short": (Fault("rtl.mc.bus.reader", "length.eq(beats - 1)", "length.eq(beats - 2)"), READER),
    "only the last beat's error counts": (
        Fault("rtl.mc.bus.reader", "error | is_error", "0 & error | is_error"),
        ("mc.test_bus_reader", "test_one_beat_with_an_error_is_enough", (0,)),
    ),
    "an address waits no longer than a cycle": (Fault("rtl.mc.bus.reader", "~ar.valid | ar.ready", "1"), READER),
    "a drained line is offered": (Fault("rtl.mc.bus.reader", "is_whole & ~self.drain", "is_whole"), READER_DRAIN),
    "a drain takes requests": (
        Fault("rtl.mc.bus.reader", "request.ready.eq(free & in_flight.w_rdy & ~self.drain)",
              "request.ready.eq(free & in_flight.w_rdy)"),
        READER_DRAIN,
    ),
    "the first beat is always beat 0": (Fault("rtl.mc.bus.writer", "beat.eq(first_used)", "beat.eq(0)"), WRITER),
    "a burst ends at the line's end": (Fault("rtl.mc.bus.writer", "last.eq(last_used)", "last.eq(beats - 1)"), WRITER),
    "a gap after each burst": (Fault("rtl.mc.bus.writer", "(w.ready & w.payload.last)", "Const(0)"), WRITER_PACE),
    "a drain ends before its responses": (
        Fault("rtl.mc.bus.writer", "(in_flight.level == 0) & ~self.aw.valid & ~sending", "~self.aw.valid & ~sending"),
        WRITER_DRAIN,
    ),
    "a line is offered before its response": (
        Fault("rtl.mc.bus.reorder_buffer", "has_line=arrived.bit_select(first, 1)", "has_line=count != 0"), ORDER,
    ),
    "a ring has an entry too many": (Fault("rtl.mc.bus.reorder_buffer", "count != depth", "count <= depth"), ORDER),
    "a line has its error in its first slice": (
        Fault("rtl.mc.bus.reader", "r.payload.last & errors", "errors"), SLICES,
    ),
    "slices have one address": (Fault("rtl.mc.lines.rows", "<< response.slice", "<< 0"), LINE_SLICES),
    "a line is whole with its first slice": (
        Fault("rtl.border.lines", "LINE_BITS // len(response.bits) - 1", "0"), ORDERED_SLICES,
    ),
    "a slice has the index of the previous one": (
        Fault("rtl.mc.bus.reader", "index.eq(index + 1)", "index.eq(index)"), SLICES,
    ),
    "rings overlap": (Fault("rtl.mc.bus.reorder_buffer", "(base + first)", "(first)"), ORDERED_SLICES),
    "the first client gets all grants": (
        Fault("rtl.mc.bus.reorder_buffer", "round_robin(requests, pointer)", "round_robin(requests, 0 & pointer)"),
        ("mc.test_reorder_buffer", "test_clients_are_served_round_robin", ()),
    ),
    "an error is every client's": (
        Fault("rtl.mc.bus.read_ports", "eq(is_own & response.payload.error)", "eq(response.payload.error)"), READS,
    ),
    "the split is a line too high": (
        Fault("rtl.mc.bus.routing", "line >= self.split >>", "line > self.split >>"), READS,
    ),
    "local ports are interleaved by two lines": (
        Fault("rtl.mc.bus.routing", "permuted[: (self.local - 1).bit_length()]",
              "permuted[1 : self.local.bit_length()]"), LOCAL_READS,
    ),
    "four local ports are interleaved without the permutation": (
        Fault("rtl.mc.bus.routing", "line ^ (line[3] << 1)", "line"), LOCAL_READS,
    ),
    "a response has its neighbour's tag": (
        Fault("rtl.mc.bus.read_ports", "tag.eq(came.tag.index)", "tag.eq(came.tag.index ^ 1)"), TAGGED_READS,
    ),
    "an invalid line hits": (
        Fault("rtl.mc.lines.tags", "dropped.hitting & ~(1 << drop.way)", "dropped.hitting"), TAGS,
    ),
    "lines hit after an invalidation": (Fault("rtl.mc.lines.tags", "[valid.eq(0), ", "["), TAGS),
    "lines hit that were valid before an invalidation": (
        Fault("rtl.mc.lines.tags", "Mux(has_lines, kept.hitting, 0)", "kept.hitting"), TAGS,
    ),
    "a set is full a line early": (Fault("rtl.mc.lines.tags", "== ways - 1)", "== ways - 2)"), TAGS),
    "a line of another set is invalidated": (
        Fault("rtl.mc.lines.tags", "Mux(drops, drop.set, index)", "index"), TAGS,
    ),
    "an access waits for any line": (
        Fault("rtl.mc.lines.refills", "arrived.bit_select(first, 1)),", "arrived.any()),"), LINES,
    ),
    "a refill counts for the next one of its entry": (
        Fault("rtl.mc.lines.refills", "next_index(first, depth)), arrived.bit_select(first, 1).eq(0)]",
              "next_index(first, depth))]"),
        LINES,
    ),
    "a refill goes into the row of another": (
        Fault("rtl.mc.lines.refills", "pending.read(m, response.payload.tag)", "pending.read(m, following)"), LINES,
    ),
    "a credit too many is given": (
        Fault("rtl.mc.lines.refills", "(count != depth)", "(count <= depth)"), CREDITS,
    ),
    "a line in flight is requested again": (
        Fault("rtl.mc.lines.cache", "tags.put.valid.eq(begin.valid & ~access.uncached)", "tags.put.valid.eq(0)"),
        MERGED,
    ),
    "a line's response goes to the first requester": (
        Fault("rtl.mc.inputs.shared_cache", "passenger.requester.eq(arbiter.source)", "passenger.requester.eq(0)"),
        LINES,
    ),
    "all banks request lines of the first": (
        Fault("rtl.mc.inputs.shared_cache", "Cat(Const(number, self._bank_bits)", "Cat(Const(0, self._bank_bits)"),
        BANKS,
    ),
    "a bank is chosen by another bit": (
        Fault("rtl.mc.inputs.shared_cache", "line[: self._bank_bits], inputs", "line[1 : 1 + self._bank_bits], inputs"),
        BANKS,
    ),
    "a bank's response is dropped by another's": (
        Fault("rtl.lib.sharing", "source.ready.eq(Array", "source.ready.eq(1 | Array"), BANKS,
    ),
    "a client's write responses are out of order": (
        Fault("rtl.mc.bus.write_ports",
              "(its_port == last_port) | (not ordered)", "(its_port == last_port) | True"), WRITES,
    ),
    "a client is idle too soon": (Fault("rtl.mc.bus.write_ports", "idle[client].eq(count == 0)",
                                        "idle[client].eq(count <= 1)"), IDLE),
    "writes are counted for less than are in flight": (
        Fault("rtl.mc.bus.write_ports", "range(most + 1)", "range(self._outstanding)"), IDLE,
    ),
    "a line that is written is evicted": (
        Fault("rtl.mc.outputs.write_combiner",
              " & ~merged.bit_select(victim, 1)", ""), WRITTEN,
    ),
    "an evicted entry takes writes": (
        Fault("rtl.mc.outputs.write_combiner", "open_.eq((open_ | opened) & ~released)", "open_.eq(open_ | opened)"),
        COMBINER,
    ),
    "a line that is hit gets younger": (
        Fault("rtl.mc.outputs.write_combiner", "ages.renew.eq(opened)", "ages.renew.eq(opened | merged)"), AGES,
    ),
    "full lines stay": (Fault("rtl.mc.outputs.write_combiner", "open_ & full)", "open_ & full & 0)"), FULL),
    "the highest lane never wins": (
        Fault("rtl.mc.outputs.wavefront_bytes", "own[byte] for own in lanes)", "own[byte] for own in lanes[:-1])"),
        OUTPUTS,
    ),
    "the first column outside is written": (
        Fault("rtl.border.buffers", "(x < buffer.pitch)", "(x <= buffer.pitch)"), OUTPUTS,
    ),
    "all lanes of a quad are in one row": (
        Fault("rtl.mc.outputs.blender", "output.j + (lane >> 1 & 1)", "output.j"), OUTPUTS,
    ),
    "a line is written through all banks": (
        Fault("rtl.mc.outputs.element_writer", "line[: self._bank_bits] == bank", "line == line"), OUTPUT_BANKS,
    ),
    "a bank takes lines that are another's": (
        Fault("rtl.mc.outputs.element_writer", "line[: self._bank_bits]", "line[1 : 1 + self._bank_bits]"),
        OUTPUT_BANKS,
    ),
    "uncached writes are divided among banks": (
        Fault("rtl.mc.outputs.element_writer", "Mux(uncached, Const(bank == 0).replicate(self._lanes), own)", "own"),
        OUTPUT_BANKS,
    ),
    "a bank begins a wavefront without the others": (
        Fault("rtl.mc.outputs.element_writer", "reduce(and_, others, busy)", "busy"),
        EACH_CYCLE,
    ),
    "a wavefront is taken when one bank is ready": (
        Fault("rtl.mc.outputs.element_writer", "coalescer in coalescers).all()),\n            self.idle",
              "coalescer in coalescers).any()),\n            self.idle"),
        OUTPUT_BANKS,
    ),
    "a flush ends when the first bank is empty": (
        Fault("rtl.mc.outputs.array_writes", "Cat(empty).all()", "empty[0]"),
        ("mc.test_outputs", "test_wavefronts_leave_what_the_golden_model_writes", (8, 4, 512, 0, 0.8)),
    ),
    "an acquiring write has its response at once": (
        Fault("rtl.mc.outputs.array_writes",
              "has_response = self.uncached_written.valid |", "has_response = ~Signal() |"),
        OUTPUTS,
    ),
    "an acquiring write that writes nothing has no response": (
        Fault("rtl.mc.outputs.array_writes",
              "writes | (payload.passenger.acquires & payload.last)", "writes"), OUTPUTS,
    ),
    "a second line's error is lost": (
        Fault("rtl.r5xx.code.reader",
              "payload.error | (error & (word != 0))", "payload.error"), INSTRUCTIONS,
    ),
    "few instructions wait for their lines": (
        Fault("rtl.r5xx.code.reader", "waiting=_TOUCHES * self._outstanding", "waiting=self._outstanding"),
        ("r5xx.code.test_reader", "test_as_many_lines_are_asked_for_as_may_be", (512,)),
    ),
    "words begin one index too far": (
        Fault("rtl.r5xx.code.reader", "(payload.passenger + word)", "(payload.passenger + word + 1)"), INSTRUCTIONS,
    ),
    "lines are kept over a gap": (Fault("rtl.r5xx.code.reader", "self.idle & ~self.client.request.valid", "0"), GAP),
    "a line has three beats": (
        Fault("rtl.mc.constant_reader", "(beat == self._beats - 1)", "(beat == self._beats - 2)"), CONSTANTS,
    ),
    "a line has one slice": (
        Fault("rtl.mc.lines.slice_walk", "begun.eq(self.remaining.any())", "begun.eq(0)"), COMBINED_SLICES,
    ),
    "a slice is left out": (
        Fault("rtl.mc.lines.slice_walk", "following.eq(self.slice + 1)", "following.eq(self.slice + 2)"),
        COMBINED_SLICES,
    ),
    "an element is in the first slice": (
        Fault("rtl.mc.lines.slice_walk", "Cat(walk.slice, line.slice)", "Cat(walk.slice)"), ELEMENTS,
    ),
    "slices of two lines are mixed": (
        Fault("rtl.lib.sharing", "waits.eq(~self.output.ready | kept)", "waits.eq(~self.output.ready)"),
        WRITTEN_SLICES,
    ),
    "a line goes on with what another client offers": (
        Fault("rtl.lib.sharing", "Mux(waits, valid.bit_select(held, 1), valid.any())", "valid.any()"), WRITTEN_SLICES,
    ),
    "each slice counts as a line": (
        Fault("rtl.mc.bus.write_ports", "write.ready & ~write.payload.remaining.any()", "write.ready"), WRITTEN_SLICES,
    ),
    "bursts begin with the line": (
        Fault("rtl.mc.bus.writer", "write.slice, write.line", "Const(0, beat_bits), write.line"), BEATS,
    ),
    "a burst that is cut off writes what is there": (
        Fault("rtl.mc.bus.writer", "Mux(self.drain, 0, write.mask)", "write.mask"), BEATS_DRAIN,
    ),
    "a burst that is cut off has no end": (
        Fault("rtl.mc.bus.writer",
              "Mux(self.drain, remaining == 1, ~write.remaining.any())", "~write.remaining.any()"), BEATS_DRAIN,
    ),
    "the first half of a row is written twice": (
        Fault("rtl.mc.outputs.write_combiner", "inside.eq(walk.slice)", "inside.eq(0)"), COMBINED_SLICES,
    ),
    "an entry is free with its first slice": (
        Fault("rtl.mc.outputs.write_combiner",
              "line.valid & line.ready & ~payload.remaining.any()", "line.valid & line.ready"), COMBINED_SLICES,
    ),
    "an entry leaves with its first slice": (
        Fault("rtl.mc.outputs.write_combiner", "(steps & ~walk.remaining.any())", "steps"), COMBINED_SLICES,
    ),
    "what was put just now is not seen": (
        Fault("rtl.mc.lines.tags", "in_set.eq(Mux(next_index == index, put, 0))", "in_set.eq(0)"), SYNCHRONOUS_TAGS,
    ),
    "a set's first line is not seen": (
        Fault("rtl.mc.lines.tags", "own.bit_select(following, 1) | comes", "own.bit_select(following, 1)"),
        SYNCHRONOUS_TAGS,
    ),
    "a line that waits hits after an invalidation": (
        Fault("rtl.mc.lines.tags", "seen[0].eq(0)", "recent.valid.eq(0)"), SYNCHRONOUS_TAGS,
    ),
    "tags are those of another line while one waits": (
        Fault("rtl.mc.lines.tags", "reader.en.eq(self.advances)", "reader.en.eq(1)"), SYNCHRONOUS_TAGS,
    ),
    "a row is read before the last one is offered": (
        Fault("rtl.mc.bus.reorder_buffer", "~response.valid & ~completes", "~response.valid"), ROWS,
    ),
    "each row counts as a line": (
        Fault("rtl.mc.bus.reorder_buffer", "taken & response.payload.slice.all()", "taken"), ROWS,
    ),
    "rows have the number of the next one": (
        Fault("rtl.mc.bus.reorder_buffer", "payload.slice.eq(position - 1)", "payload.slice.eq(position)"), ROWS,
    ),
    "an instruction's last sector is not read": (
        Fault("rtl.r5xx.code.reader", "first_offset + INSTRUCTION_WORDS - 1", "first_offset + INSTRUCTION_WORDS - 2"),
        CODE_SLICES,
    ),
    "a sector has the error of the row that is filled": (
        Fault("rtl.mc.lines.rows", "errors.bit_select(read.row, 1))", "errors.bit_select(fill.row, 1))"), CODE_SLICES,
    ),
    "an access does not see the change of the second previous one": (
        Fault("rtl.mc.conditional.pipeline", "for earlier in (before, change)", "for earlier in (change,)"), CHANGES,
    ),
    "a changed word is lost while an access waits": (
        Fault("rtl.mc.conditional.pipeline",
              "with m.If(moves):\n            m.d.sync += before", "with m.If(1):\n            m.d.sync += before"),
        CHANGES,
    ),
    "the mask is set with the conditional mask": (
        Fault("rtl.mc.registers", 'self._is("set_out_mask")', 'self._is("set_out_mask", "set_cond_out_mask")'),
        REGISTERS,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAULTS][::16])
def test_some_faults_are_found(name: str) -> None:
    find(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for number, name in enumerate(FAULTS) if number % 16])
def test_the_other_faults_are_found(name: str) -> None:
    find(name)


def test_each_fault_has_its_source() -> None:
    for fault, _ in FAULTS.values():
        FaultyLoader(fault)


def find(name: str) -> None:
    """Run a fault's test on hardware with the fault."""
    fault, (module, function, arguments) = FAULTS[name]
    with planted(fault, f"ctm.tb.{module}", PACKAGES) as tests, pytest.raises(AssertionError):
        getattr(tests, function)(*arguments)


def test_the_checks_pass_without_a_fault() -> None:
    neutral = Fault("rtl.mc.bus.axi", "LENGTH_BITS = 8", "LENGTH_BITS = 4 + 4")
    with planted(neutral, "ctm.tb.mc.test_bus_reader") as tests:
        getattr(tests, READER[1])(*READER[2])
