"""Cocotb tests: soft resets while a program runs, with transactions in flight; what follows runs right."""

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from ctm.rtl.isa.status import Status
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.command_streams import random_stream
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB

_SEEDS = range(3)
_MOST_CYCLES = 2500
_COPIES = 4


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=[0.0, 0.3, 0.8], seed=_SEEDS)
async def a_reset_at_any_time_leaves_a_machine_that_runs_right(dut: Any, pauses: float, seed: int) -> None:
    generator = random.Random(seed)
    tb = TB(dut, pauses=pauses, seed=seed)
    await tb.start()
    stream = random_stream(seed, lanes=tb.config.array.lanes, programs=2, buffers=1, wavefronts=2)
    for _ in range(2):
        await tb.prepare(20_000)
        Scoreboard(tb).load(stream)
        # More than can be done until the reset.
        for address, dwords in stream.buffers * _COPIES:
            await tb.push(address, dwords)
        await ClockCycles(dut.clk, generator.randrange(_MOST_CYCLES))
        for _ in range(_MOST_CYCLES):
            if any(port.outstanding for port in tb.checked):
                break
            await RisingEdge(dut.clk)
        assert await tb.read("LAST_SUBMITTED") - await tb.read("LAST_CONSUMED") > 1
        await tb.write_fields("CONTROL", reset=1)
        status = await tb.settle()
        assert status["error"] and Status(status["code"]) is Status.RESET
        assert not any(port.outstanding for port in tb.checked), "idle with transactions in flight"
        assert await tb.read("LAST_CONSUMED") == await tb.read("LAST_SUBMITTED")
    board = Scoreboard(tb, watchdog=20_000)
    await board.prepare()
    await board.run(stream)
    await tb.finish()
