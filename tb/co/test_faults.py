"""The comparisons are worth something: every planted fault is found by a test of the ordinary suite."""

from collections.abc import Callable

import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.tb.co import bench
from ctm.tb.co.bench import CONFIGS
from ctm.tb.co.simulation import UnitSimulation
from ctm.tb.lib.planting import Fault, FaultyLoader, checks, planted
from ctm.tb.mc.cache_simulation import ProtocolError

test_timing, test_unit, test_cache = (
    checks("co.test_timing"),
    checks("co.test_unit"),
    checks("mc.test_conditional_cache"),
)
Check = Callable[[], None]
LESS, NEVER, NOT_EQUAL = ConditionalTest.LESS, ConditionalTest.NEVER, ConditionalTest.NOT_EQUAL
FLOAT, INTEGER = DataFormat.FLOAT32_1, DataFormat.UINT16_1
PE = ConditionalLocation.PE
PACKAGES = ("ctm.rtl.border", "ctm.rtl.co", "ctm.rtl.mc", "ctm.tb.co.unit_with_cache")


def corners(test: ConditionalTest) -> Check:
    return lambda: test_unit.test_every_corner_meets_every_corner(test, FLOAT, PE)


def wavefronts(test: ConditionalTest, data_format: DataFormat = FLOAT) -> Check:
    return lambda: test_unit.test_random_wavefronts(test, data_format, Tiling.LINEAR)


def closely(timing: str) -> Check:
    return lambda: test_unit.test_a_pair_sees_what_one_closely_before_it_has_stored(FLOAT, 1, timing)


def runs_follow() -> None:
    test_unit.test_runs_follow_each_other("default", FLOAT, "some_stalls")


def smallest() -> None:
    test_unit.test_random_wavefronts_with_the_smallest_cache("some_stalls")


def errors() -> None:
    for seed in range(4):
        test_cache.test_each_error_is_reported_once("default", seed)


FAULTS: dict[str, tuple[Fault, Check]] = {
    "a denormal in the buffer is no zero": (
        Fault(
            "rtl.co.comparison",
            "is_zero(self.value) & is_zero(self.stored)",
            "~Cat(self.value[:-1], self.stored[:-1]).any()",
        ),
        corners(LESS),
    ),
    "a NaN in the buffer is a number": (
        Fault("rtl.co.comparison", "(is_nan(self.value) | is_nan(self.stored))", "is_nan(self.value)"),
        corners(LESS),
    ),
    "a NaN is not unequal": (
        Fault("rtl.co.comparison", '("less", "greater", "unordered")', '("less", "greater")'),
        corners(NOT_EQUAL),
    ),
    "negative numbers are compared as positive ones": (
        Fault("rtl.co.comparison", "word[:-1] ^ sign.replicate(WORD_BITS - 1)", "word[:-1]"),
        corners(LESS),
    ),
    "the first column outside is inside": (
        Fault("rtl.border.buffers", "(x < buffer.pitch)", "(x <= buffer.pitch)"),
        wavefronts(LESS),
    ),
    "all quads are the first one": (Fault("rtl.co.pairs", "Cat(lane[0], lane[2:])", "lane[0]"), wavefronts(LESS)),
    "a stalled value is converted twice": (
        Fault("rtl.co.pairs", "EnableInserter(moves)(unorm)", "unorm"),
        wavefronts(LESS, INTEGER),
    ),
    "the wrong half of a word is compared": (
        Fault("rtl.co.unit", "word_select(pair.upper, _HALF_BITS)", "word_select(~pair.upper, _HALF_BITS)"),
        wavefronts(LESS, INTEGER),
    ),
    "an integer is stored over its neighbour": (
        Fault("rtl.co.unit", "Cat(~upper, ~upper, upper, upper), 0b1111)", "0b1111, 0b1111)"),
        wavefronts(LESS, INTEGER),
    ),
    "NEVER passes": (
        Fault("rtl.co.unit", "Mux(selected & never, 0, request.payload.mask)", "request.payload.mask"),
        wavefronts(NEVER),
    ),
    "a wavefront begins with lanes that the previous one passed": (
        Fault("rtl.co.unit", "Mux(was_last, 0, passed)", "passed"),
        wavefronts(LESS),
    ),
    "the last lane is lost if its response waits": (
        Fault("rtl.co.unit", "ready.eq(~pair.last | has_space)", "ready.eq(1)"),
        wavefronts(LESS),
    ),
    "a command is taken at once": (
        Fault("rtl.co.unit", "commands.ready.eq(self.idle)", "commands.ready.eq(1)"),
        lambda: test_unit.test_a_command_changes_requests_after_it("far"),
    ),
    "requests pass a waiting command": (
        Fault("rtl.co.unit", "request.ready.eq(~executes & ", "request.ready.eq("),
        lambda: test_unit.test_a_command_changes_requests_after_it("far"),
    ),
    "a pair does not see the store of the previous one": (
        Fault("rtl.mc.conditional.pipeline", "for earlier in (before, change)", "for earlier in (before,)"),
        closely("ideal"),
    ),
    "more refills arrive than are counted": (
        Fault("rtl.mc.conditional.pipeline", "range(self._waiting + 1)", "range(9)"),
        lambda: test_timing.test_accesses_continue_while_no_response_is_taken("default"),
    ),
    "a line is read before its write response": (
        Fault("rtl.mc.conditional.cache", " & ~(access.touches & write_backs.eviction.evicting)", ""),
        smallest,
    ),
    "a row is read for its write-back while a pair waits for its own": (
        Fault("rtl.mc.conditional.pipeline", "self.free.eq(moves | ~reading)", "self.free.eq(1)"),
        wavefronts(LESS),
    ),
    "a pair whose line has an error passes": (
        Fault("rtl.mc.conditional.pipeline", "read.reads & self.error", "0 & self.error"),
        lambda: test_cache.test_a_pair_whose_line_has_error_fails("default", "ideal"),
    ),
    "a row is flushed twice": (
        Fault("rtl.mc.conditional.cache", "rows.soiled & ~released", "rows.soiled"),
        lambda: test_cache.test_a_flush_takes_two_cycles_for_each_line_and_once_the_latency(16),
    ),
    "a flush does not wait for memory": (
        Fault("rtl.mc.conditional.cache", "self.flush & flushing & drained & ", "self.flush & flushing & "),
        runs_follow,
    ),
    "a result survives a reset": (
        Fault("rtl.mc.conditional.pipeline", "ending, end = Signal(), ", "ending, end = Signal(reset_less=True), "),
        lambda: test_cache.test_a_reset_in_any_cycle_leaves_nothing("default"),
    ),
    "a refill overwrites dirty bytes": (
        Fault(
            "rtl.mc.conditional.dirty_rows",
            "~old_mask.word_select(fill.slice, slice_bytes)",
            "(1 << slice_bytes) - 1",
        ),
        lambda: test_cache.test_bytes_that_are_not_there_come_around_those_that_were_written(FLOAT),
    ),
    "bytes that were dirty once are dirty again": (
        Fault(
            "rtl.mc.conditional.dirty_rows",
            " & Value.cast(self.soiled).bit_select(row, 1).replicate(CacheConfig.LINE_BYTES)",
            "",
        ),
        smallest,
    ),
    "a line with an error is kept": (
        Fault("rtl.mc.conditional.tags", "with m.If(self.error.valid)", "with m.If(0)"),
        lambda: test_cache.test_a_line_with_an_error_is_requested_again_and_keeps_written_bytes(),
    ),
    "an invalidate drops nothing": (
        Fault("rtl.mc.conditional.tags", "with m.If(self.invalidate)", "with m.If(0)"),
        runs_follow,
    ),
    "what is only written is read": (
        Fault("rtl.mc.conditional.tags", "self.take & self.reads & ~self.hit", "self.take & ~self.hit"),
        lambda: test_cache.test_what_is_only_written_is_not_read("default", FLOAT),
    ),
    "of two errors one is reported": (
        Fault("rtl.mc.conditional.write_backs", "order.r_rdy & ~self.hold", "order.r_rdy"),
        errors,
    ),
    "an entry is free before the write response": (
        Fault(
            "rtl.mc.conditional.write_backs", "return responded, order.r_data", "return order.r_en & 0, order.r_data"
        ),
        smallest,
    ),
}


def find(fault: Fault, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a check of the ordinary suite, all its units having the fault."""
    simulations: dict[str, UnitSimulation] = {}
    with planted(fault, "ctm.tb.co.unit_with_cache", PACKAGES) as module:

        def compiled(name: str) -> UnitSimulation:
            if name not in simulations:
                lanes, config, outstanding, waiting = CONFIGS[name]
                unit = module.UnitWithCache(lanes, config, outstanding=outstanding, waiting=waiting)
                simulations[name] = UnitSimulation(unit, outstanding=outstanding)
            return simulations[name]

        monkeypatch.setattr(bench, "compiled", compiled)
        check()


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name, monkeypatch):
    with pytest.raises((AssertionError, ProtocolError)):
        find(*FAULTS[name], monkeypatch)


@pytest.mark.slow
def test_a_fault_is_found(monkeypatch):
    with pytest.raises(ProtocolError, match="a line is written back that is in flight"):
        find(*FAULTS["a line is read before its write response"], monkeypatch)


def test_each_fault_can_be_planted():
    for fault, _ in FAULTS.values():
        FaultyLoader(fault)
