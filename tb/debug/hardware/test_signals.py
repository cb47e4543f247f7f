"""Signals of the machine in the cycle of a wavefront."""

from pathlib import Path

import pytest

from ctm.rtl.config import TINY
from ctm.rtl.dpp.watch import Wait
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.signals import Signal, Signals, read, signals_in
from ctm.sim.debug.session import Session
from ctm.sim.debug.texts import Texts
from ctm.sim.engines.engine import Report
from ctm.sim.jobs.execution import Execution
from ctm.tb.debug.jobs import example

VCD = """$scope module top $end
$scope module fifo $end
$var wire 3 ! level [2:0] $end
$var wire 20 " r_data [19:0] $end
$var wire 1 # consume $end
$upscope $end
$scope module other $end
$scope struct entry $end
$var wire 2 % row $end
$upscope $end
$var wire 3 ! used [2:0] $end
$var wire 2 $ level $end
$upscope $end
$upscope $end
$enddefinitions $end
#60
b101 !
b11111111111111110000 "
1#
b00 $
#65
b0 !
0#
"""
SLOT = "ctm.machine.array.core_0.wave_slot_0"


def test_values_are_the_first_ones_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.vcd").write_text(VCD.replace("b00 $", "bx $"))
    found = read(tmp_path / "a.vcd")
    assert found["top.fifo.level"] == Signal("top.fifo.level", "top.fifo", 3, 5)
    assert found["top.other.used"].value == 5 and found["top.fifo.consume"].value == 1
    assert str(found["top.fifo.r_data"]) == "top.fifo.r_data = 0xffff0"
    assert found["top.other.level"].value is None and str(found["top.other.level"]) == "top.other.level = unknown"


def test_queues_with_entries_and_names_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.vcd").write_text(VCD)
    signals = Signals(6, read(tmp_path / "a.vcd"))
    assert signals.queues() == [("top.fifo", 5, signals.by_name["top.fifo.r_data"])]
    assert signals.units() == ["top.fifo", "top.other"]
    assert "top.other.entry.row" in signals.by_name
    assert {signal.name for signal in signals.named("level")} == {"top.fifo.level", "top.other.level"}
    with pytest.raises(DebugError, match="no signal has 'levle' in its name"):
        signals.named("levle")


def test_the_golden_model_has_none() -> None:
    with Session(example("saxpy/saxpy", 8, 4), TINY) as session, pytest.raises(DebugError, match="engine rtl has"):
        list(Texts(session).queues())


@pytest.mark.long
def test_they_are_those_of_the_cycle_in_which_the_wavefront_is() -> None:
    job = example("saxpy/saxpy", 16, 4)
    with Session(job, TINY, engine="rtl") as session:
        wavefront, texts = session.wavefront, Texts(session)
        taken = wavefront.cycle
        assert taken is not None
        states = [signals_in(job, TINY, 0, taken + after, Cancellation()).by_name[SLOT].value for after in range(2)]
        assert states[0] == Wait.FREE.value != states[1], "it has its wave slot a cycle after it takes it"
        session.step(2)
        rows = list(texts.signals("wave_slot_0_pc"))
        assert rows == [f"{SLOT}_pc = {session.unit - 1}"]
        assert any("core.texture.queue  2" in row for row in texts.queues()), "two fetches are sent"
    report: Report = Execution(job, engine="rtl", config=TINY, watchdog=0).run().report
    assert report.cycles is not None and taken < report.cycles
