"""Cocotb tests: R700 programs on the whole machine, with pauses of 0, 30 and 80 % on every channel."""

from typing import Any

import cocotb

from ctm.rtl.isa.status import Status
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.choice import with_pauses
from ctm.tb.cosim.programs import Domain, example
from ctm.tb.cosim.scoreboard import Scoreboard
from ctm.tb.cosim.testbench import TB
from ctm.tb.r700.cosim.configuration import SMALL

PROGRAMS: dict[str, tuple[str, Domain]] = {
    "saxpy": ("saxpy/saxpy.toml", (3, 1, 20, 6)),
    "reduction": ("reduction/reduction.toml", (0, 0, 13, 3)),
    "mandelbrot": ("mandelbrot/mandelbrot.toml", (8, 6, 13, 7)),
    "sha256": ("sha256/sha256.toml", (1, 0, 4, 1)),
}


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("name", "pauses"), with_pauses(cocotb.Param(name, name=name) for name in PROGRAMS)))
async def real_programs(dut: Any, name: str, pauses: float) -> None:
    """A rectangle of an example's domain, compared with the golden model by the scoreboard; it must change memory."""
    source, domain = PROGRAMS[name]
    if pauses > 0.5:
        i0, j0, _, _ = domain
        domain = i0, j0, i0 + 3, j0 + 2
    tb = TB(dut, SMALL, pauses=pauses, seed=len(name))
    await tb.start()
    board = Scoreboard(tb)
    await board.prepare()
    work = example(f"r700/{source}", domain)
    assert set(await board.run(work)) == {Status.OK}
    changes = any(tb.memory.contents.read(address, len(data)) != data for address, data in work.contents)
    assert changes, f"{name} wrote nothing"
    await tb.finish()
