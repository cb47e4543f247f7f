"""The conditional test at the end of wavefronts passes the pixels, and stores the values, that it does on golden."""

from itertools import product

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, InstructionType
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC
from ctm.rtl.isa.word import pack
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.engines.fast.host import Host
from ctm.sim.golden.fp import to_unorm16
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.fast.comparison import COMMANDS, Task, check, machine
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.lib.words import CORNERS
from ctm.tb.r5xx.machine import Instruction, alu, move
from ctm.tb.r5xx.statements import fetch

PROGRAM, VALUES, OUTPUT, CONDITIONAL = 0x1_0000, 0x2_0000, 0x4_0000, 0x8_0000
SIDE = CORNERS.size
SET_VALUE = alu(
    rgb={"addr0": 1}, alpha={"op": AlphaOperation.MIN.value, "omod": 7, "w_omask": 1}, type=InstructionType.OUTPUT.value
)
"""The conditional value is the red channel of temporary 1, bit by bit."""
PROGRAMS = {
    "the program's value": [fetch(source=0, destination=1), SET_VALUE, move(0, 0, output=0)],
    "no value": [move(0, 0, output=0)],
}
FORMATS = (DataFormat.FLOAT32_1, DataFormat.UINT16_1)
CASES = list(product(ConditionalTest, FORMATS, PROGRAMS))


def image(base: int, layout: Layout, values: np.ndarray) -> tuple[int, bytes]:
    """Memory that holds an image of one channel."""
    memory = Memory()
    Image(memory=memory, base=base, layout=layout).write(values[..., None])
    return base, memory.read(base, layout.size)


def task(
    test: ConditionalTest, data_format: DataFormat, program: list[Instruction], group: int, where: ConditionalLocation
) -> Task:
    """Each row has a value of the pixels, each column one that the buffer holds: twice, and stored the second time.

    The command processor's value is 0.
    """
    executable = Executable(
        instructions=tuple(program), end=len(program) - 1, highest_temporary=1,
        fg_depth_src=pack(FG_DEPTH_SRC, from_program=1),
    )  # fmt: skip
    layouts = {
        VALUES: Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_1),
        CONDITIONAL: Layout(width=SIDE, height=SIDE, format=data_format, tiling=Tiling.TILED),
        OUTPUT: Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_4),
    }
    values = CORNERS.view(np.float32)
    stored: np.ndarray = values
    if data_format is DataFormat.UINT16_1:
        values = np.concatenate([CORNERS[::2].view(np.float32), np.linspace(0, 1, SIDE // 2, dtype=np.float32)])
        stored = to_unorm16(values)
    words = {base: (base, layout.format_word, layout.height) for base, layout in layouts.items()}
    commands = CommandBuffer().set_inst_fmt(PROGRAM).set_inp_fmt(0, *words[VALUES]).set_out_fmt(0, *words[OUTPUT])
    commands.set_cond_out_fmt(*words[CONDITIONAL]).set_cond_loc(where).set_cond_test(test).set_cond_val(0.0)
    commands.set_domain(0, 0, SIDE - 1, SIDE - 1)
    for stores in (False, True):
        commands.set_cond_out_mask(enable=stores).start_program()
    rows, columns = (np.broadcast_to(each, (SIDE, SIDE)) for each in (values[:, None], stored))
    return Task(
        name=f"{test.name} of {data_format.name}", config=machine(group), watchdog=0,
        contents=[
            (PROGRAM, write(executable)), image(VALUES, layouts[VALUES], rows),
            image(CONDITIONAL, layouts[CONDITIONAL], columns), (COMMANDS, bytes(commands)),
        ],
        buffers=[(COMMANDS, len(commands.words))],
    )  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_conditional_tests_of_special_values(number: int) -> None:
    """Among them denormals, which are zeros, and a value that LLVM knows, as it is never written."""
    test, data_format, program = CASES[number]
    host, group = list(HOSTS.values())[number % len(HOSTS)], (4, 8, 16)[number % 3]
    assert check(task(test, data_format, PROGRAMS[program], group, ConditionalLocation.DPP), host) == []


@pytest.mark.parametrize("test", ConditionalTest)
def test_programs_of_pixels_that_passed_before(test: ConditionalTest) -> None:
    found = task(test, DataFormat.FLOAT32_1, PROGRAMS["no value"], 4, ConditionalLocation.PE)
    assert check(found, Host.this(16)) == []
