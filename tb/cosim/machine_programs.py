"""Cocotb tests: real programs, with pauses of 0, 30 and 80 % on every channel."""

from collections.abc import Callable
from typing import Any

import cocotb

from ctm.rtl.isa.status import Status
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.choice import with_pauses
from ctm.tb.cosim.programs import Domain, example, shader
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB
from ctm.tb.cosim.work import Work

PROGRAMS: dict[str, tuple[Callable[[str, Domain], Work], str, Domain]] = {
    "saxpy": (example, "saxpy/saxpy.toml", (3, 1, 20, 6)),
    "transpose": (example, "transpose/transpose.toml", (0, 0, 13, 3)),
    "early_out": (example, "early_out/early_out.toml", (41, 61, 46, 63)),
    "classify": (example, "early_out/classify.toml", (38, 60, 49, 65)),
    "mandelbrot": (shader, "mandelbrot", (4, 3, 7, 5)),
    "discard_loop": (shader, "discard_loop", (1, 1, 5, 3)),
    "depth_out": (shader, "depth_out", (1, 0, 8, 3)),
    "mrt4": (shader, "mrt4", (0, 1, 7, 6)),
}


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("name", "pauses"), with_pauses(cocotb.Param(name, name=name) for name in PROGRAMS)))
async def real_programs(dut: Any, name: str, pauses: float) -> None:
    make, source, domain = PROGRAMS[name]
    if pauses > 0.5:
        i0, j0, _, _ = domain
        domain = i0, j0, i0 + 3, j0 + 2
    tb = TB(dut, pauses=pauses, seed=len(name))
    await tb.start()
    board = Scoreboard(tb)
    await board.prepare()
    work = make(source, domain)
    assert set(await board.run(work)) == {Status.OK}
    changes = any(tb.memory.contents.read(address, len(data)) != data for address, data in work.contents)
    assert changes, f"{name} wrote nothing"
    await tb.finish()
