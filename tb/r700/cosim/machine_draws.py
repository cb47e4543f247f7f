"""Cocotb tests: draws on the whole machine, with pauses of 0, 30 and 80 % on every channel."""

from typing import Any

import cocotb

from ctm.rtl.isa.status import Status
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.choice import with_pauses
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB
from ctm.tb.r700.cosim.configuration import DRAW
from ctm.tb.r700.cosim.draws import SCENES, scene_work


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("name", "pauses"), with_pauses(cocotb.Param(name, name=name) for name in SCENES)))
async def draws(dut: Any, name: str, pauses: float) -> None:
    tb = TB(dut, DRAW, pauses=pauses, seed=len(name))
    await tb.start()
    board = Scoreboard(tb)
    await board.prepare()
    work = scene_work(SCENES[name])
    assert set(await board.run(work)) == {Status.OK}
    changed = [address for address, data in work.contents if tb.memory.contents.read(address, len(data)) != data]
    assert len(changed) == (2 if SCENES[name].depth else 1), f"{name} changed {list(map(hex, changed))}"
    await tb.finish()
