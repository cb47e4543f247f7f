"""Cocotb tests: every error status, its address, and that the next buffer runs right."""

from typing import Any

import cocotb
from cocotbext.axi import AxiResp

from ctm.rtl.isa.status import Status
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.choice import some
from ctm.tb.cosim.directed import MISTAKES, WATCHDOG
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB


def _named(name: str) -> cocotb.Param:
    return cocotb.Param(name, name=name.replace(" ", "_"))


async def _check(dut: Any, name: str, response: AxiResp, pauses: float) -> None:
    mistake = MISTAKES[name]
    tb = TB(dut, pauses=pauses, seed=len(name))
    tb.memory.response = response
    await tb.start()
    board = Scoreboard(tb, watchdog=WATCHDOG)
    await board.prepare()
    work = mistake.work()
    board.load(work)
    if mistake.error_line is not None:
        board.respond_with_errors(mistake.error_line, mistake.error_line + 64)
    (bad, dwords), (right, right_dwords) = work.buffers
    assert await board.execute(bad, dwords) is mistake.status
    board.compare()
    board.allow()
    assert await board.execute(right, right_dwords) is Status.OK
    board.compare()
    assert (sum(port.counts.errors for port in tb.checked) > 0) == (mistake.error_line is not None)
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(name=[_named(name) for name in MISTAKES])
async def every_error_is_reported(dut: Any, name: str) -> None:
    await _check(dut, name, AxiResp.SLVERR, 0.3)


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(
    name=[_named(name) for name in some((name for name, each in MISTAKES.items() if each.error_line is not None), 2)]
)
async def no_memory_at_an_address_is_a_bus_error_too(dut: Any, name: str) -> None:
    await _check(dut, name, AxiResp.DECERR, 0.0)
