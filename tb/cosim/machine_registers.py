"""Cocotb tests of the host's registers."""

from typing import Any

import cocotb

from rtl.isa.host import IDENTITY, QUEUE_DEPTH, REGISTERS, VERSION
from rtl.isa.word import pack
from tb.cosim.testbench import OFFSETS, TB

_LIMIT = 2_000_000
"""Nanoseconds."""


@cocotb.test(timeout_time=_LIMIT, timeout_unit="ns")
async def reset_values(dut: Any) -> None:
    tb = TB(dut)
    await tb.start()
    array = tb.config.array
    layouts = {register.name: register.layout for register in REGISTERS}
    expected = dict.fromkeys(OFFSETS, 0) | {
        "ID": IDENTITY,
        "VERSION": VERSION,
        "CONFIG": pack(
            layouts["CONFIG"], cores=array.cores, lanes=array.lanes, threads=array.threads, queue_depth=QUEUE_DEPTH
        ),
        "STATUS": pack(layouts["STATUS"], idle=1),
    }
    found = {name: await tb.read(name) for name in OFFSETS}
    assert found == expected
    assert dut.irq.value == 0
    await tb.finish()
