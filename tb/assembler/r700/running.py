"""Runs an assembled program on the golden model over a small domain."""

from collections.abc import Mapping

import numpy as np

from ctm.rtl.config import R700
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime import CommandBuffer, Device, Layout

WIDTH, HEIGHT = 8, 4
UNWRITTEN = -777.0


def run(
    text: str,
    floats: Mapping[int, tuple[float, ...]] | None = None,
    ints: Mapping[int, tuple[int, int, int]] | None = None,
    bools: tuple[int, ...] = (),
) -> np.ndarray:
    """Output 0 of a program, floats [HEIGHT, WIDTH, 4]; a fault of the program raises.

    `floats` are rows of constants, `ints` count, start and step of loops, `bools` the boolean constants that are true.
    """
    device = Device("golden", R700)
    rows = {row: tuple(np.array(values, np.float32).view(np.uint32).tolist()) for row, values in (floats or {}).items()}
    loops = {number: count | start << 8 | step << 16 for number, (count, start, step) in (ints or {}).items()}
    files = ConstantFiles(floats=rows, ints=loops, bools=dict.fromkeys(bools, True))
    constants = [device.place(data) for data in files.images()]
    commands = CommandBuffer().set_inst_fmt(device.place(write(assemble(text))))
    commands.set_constf_fmt(constants[0]).set_consti_fmt(constants[1]).set_constb_fmt(constants[2])
    layout = Layout(width=WIDTH, height=HEIGHT, format=DataFormat.FLOAT32_4)
    output = device.image(layout, np.full((HEIGHT, WIDTH, 4), UNWRITTEN, np.float32))
    commands.set_out_fmt(0, output.base, output.layout.format_word, HEIGHT)
    commands.set_domain(0, 0, WIDTH - 1, HEIGHT - 1).start_program()
    device.run(commands.flush_out_cache())
    return output.read()
