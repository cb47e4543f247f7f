"""The comparison with the golden model is worth something: mistakes in the command processor are found, and named."""

import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.pe.processor_cases import CASES, check_cases, check_resets
from ctm.tb.pe.simulation import ProcessorSimulation

CONFIG = ArrayConfig(lanes=8)
FAULTS = {
    "a row too many is walked": Fault(
        "rtl.pe.walker", "begin.j1[1:] - begin.j0[1:]", "begin.j1[1:] - begin.j0[1:] + 1"
    ),
    "the second row of a quad is covered where the domain's last is even": Fault(
        "rtl.pe.walker", "~(at_last[1] & ~domain.j1[0])", "Const(1)"
    ),
    "a wavefront without a passing pixel is given": Fault(
        "rtl.pe.tester", "response.valid & waiting.r_rdy & passed.any()", "response.valid & waiting.r_rdy"
    ),
    "pixels that failed their test are not disposed of": Fault(
        "rtl.pe.tester", "disposed.eq(tested.covered)", "disposed.eq(passed)"
    ),
    "a command without its last parameter is taken": Fault(
        "rtl.pe.reader", "self._remaining <= decoded.parameters", "self._remaining < decoded.parameters"
    ),
    "a parameter that cannot be read is reported with its own address": Fault(
        "rtl.pe.reader", "payload.address.eq(self._start)", "payload.address.eq(self._at)"
    ),
    "output 4 is taken": Fault("rtl.pe.command", ".index >= outputs", ".index > outputs"),
    "a line more than needed is read": Fault("rtl.pe.fetcher", "first + _WORDS - 1", "first + _WORDS"),
    "an offered request is withdrawn": Fault(
        "rtl.pe.fetcher", "remaining.eq(request.valid & ~request.ready)", "remaining.eq(0)"
    ),
    "the next buffer does not wait for lines of a dropped one": Fault(
        "rtl.pe.fetcher", "(remaining == 0) & (in_flight == 0)", "~request.valid"
    ),
    "state that is set after a program that faults is kept": Fault(
        "rtl.pe.executor", "[self.settings.commands.restore.eq(1), self.performance.restore.eq(1)]", "[]"
    ),
    "inv_inst_cache does not invalidate the image": Fault(
        "rtl.pe.command", '("set_inst_fmt", "inv_inst_cache")', '("set_inst_fmt",)'
    ),
    "flush_cond_out_cache reports nothing": Fault(
        "rtl.pe.command", '"flush_cond_out_cache", "wait_for_idle"', '"wait_for_idle"'
    ),
    "wait_for_idle does not wait for the memory controller": Fault(
        "rtl.pe.executor", "self.run.ended & self.memory.idle", "self.run.ended"
    ),
    "an error in the stream is reported beside a program": Fault(
        "rtl.pe.executor", "with m.Elif(runs)", "with m.Elif(runs & is_good)"
    ),
    "counters are written though disabled": Fault(
        "rtl.pe.executor", "with m.If(~self.performance.enabled)", "with m.If(0)"
    ),
    "the array's idleness is believed too early": Fault(
        "rtl.pe.program_run", "~tester.busy & ~given & self.array.idle", "~tester.busy & self.array.idle"
    ),
    "the last fault wins": Fault(
        "rtl.pe.program_run", "self.array.fault.valid & ~self.control.failed", "self.array.fault.valid"
    ),
    "a failed load counts": Fault(
        "rtl.pe.launcher", "self.control.done.eq(1), self.control.status.eq(loader.status)]",
        "self.control.done.eq(1), self.control.status.eq(loader.status)]\n                    m.d.sync += loaded.eq(1)",
    ),
    "a line of another image is used": Fault(
        "rtl.pe.loader", "window.invalidate.eq(self.start)", "window.invalidate.eq(0)"
    ),
    "names of notes are not compared": Fault(
        "rtl.pe.notes", "is_named.eq(header.namesz == len(elf.NOTE_NAME))", "is_named.eq(1)"
    ),
    "sums of an image's numbers wrap": Fault(
        "rtl.pe.window", "OFFSET_BITS = WORD_BITS + 2", "OFFSET_BITS = WORD_BITS"
    ),
    "the walk continues after a reset": Fault(
        "rtl.pe.walker", "walking = self.wavefront, Signal()", "walking = self.wavefront, Signal(reset_less=True)"
    ),
    "the fetcher counts lines of before a reset": Fault(
        "rtl.pe.fetcher", "Signal(range(_LINES + 1))", "Signal(range(_LINES + 1), reset_less=True)"
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found_and_named(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.pe.processor") as processor:
        simulation = ProcessorSimulation(CONFIG, processor.CommandProcessor(CONFIG, PROGRAM_FORMAT))
    with pytest.raises(AssertionError, match=r"^seed \d+, 8 lanes"):
        check_cases(simulation, range(3 * CASES))
        check_resets(simulation, range(3 * CASES))


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_can_still_be_made(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.pe.processor"):
        pass
