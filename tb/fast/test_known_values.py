"""What LLVM knows of a program's operands changes no bit: it may not take x * 1 or x - 0 for x, as a denormal is 0."""

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.fast.comparison import COMMANDS, Task, check, machine
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.words import CORNERS

PROGRAM, INPUTS, OUTPUTS, STEP = 0x1_0000, 0x10_0000, 0x20_0000, 0x2_0000
SIDE = CORNERS.size
LOADS = """
TEX r1.r = LOOKUP(i0, r0.rg) unscaled
TEX r2 = LOOKUP(i1, r0.rg) unscaled
TEX r4 = LOOKUP_PROJ(i2, r0.rg)
"""
"""Any value in r1.r and r2.r, the channels that an element lacks in the others of r2, r3 unwritten."""
ANY = ("r1.r", "r2.r")
KNOWN = ("0", "0", "0", "1", "1", "0.5", "2.0.r", "r2.g", "r2.a", "r3.r", "r4.r")
STATEMENTS = ("ADD", "ADD", "ADD", "MAD", "MAD", "MUL", "MIN", "MAX", "CND", "CMP", "FRC", "RCP", "EX2")
OPERANDS = {"MUL": 2, "ADD": 2, "MAD": 3, "MIN": 2, "MAX": 2, "CND": 3, "CMP": 3, "FRC": 1, "RCP": 1, "EX2": 1}
SIGNS = ("{}", "{}", "-{}", "-{}", "|{}|", "-|{}|")
MODIFIERS, EXACT = ("", "", "clamp", "*2"), ("MIN", "MAX", "CND", "CMP")


def source(seed: int) -> str:
    """A statement for each channel of four outputs."""
    generator = np.random.default_rng(seed)

    def operand() -> str:
        values = KNOWN if generator.random() < 0.5 else ANY
        return SIGNS[generator.integers(len(SIGNS))].format(values[generator.integers(len(values))])

    text = LOADS
    for output in range(4):
        for channel in "rgba":
            name = STATEMENTS[generator.integers(len(STATEMENTS))]
            operands = ", ".join(operand() for _ in range(OPERANDS[name]))
            modifiers = (*MODIFIERS, "exact") if name in EXACT else MODIFIERS
            modifier = modifiers[generator.integers(len(modifiers))]
            if name in ("RCP", "EX2"):
                text += f"ALU r5.a = {name}({operands})\nOUT o{output}.{channel} = MOV(r5.a)\n"
            else:
                text += f"OUT o{output}.{channel} = {name}({operands}) {modifier}\n"
    return text


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_arithmetic_with_known_values(seed: int) -> None:
    layout = Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_1)
    columns, rows = np.meshgrid(CORNERS.view(np.float32), CORNERS.view(np.float32))
    contents = [(PROGRAM, write(assemble(source(seed))))]
    commands = CommandBuffer().set_inst_fmt(PROGRAM).set_domain(0, 0, SIDE - 1, SIDE - 1)
    for number, values in enumerate((columns, rows, columns)):
        memory, base = Memory(), INPUTS + STEP * number
        Image(memory=memory, base=base, layout=layout).write(values[..., None])
        contents.append((base, memory.read(base, layout.size)))
        # The third input has no elements.
        commands.set_inp_fmt(number, base, layout.format_word, layout.height if number < 2 else 0)
    wide = Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_4)
    for number in range(4):
        commands.set_out_fmt(number, OUTPUTS + STEP * number, wide.format_word, wide.height)
    commands.start_program()
    contents.append((COMMANDS, bytes(commands)))
    task = Task(
        name=f"known values {seed}", config=machine((4, 8, 16)[seed % 3]), watchdog=0, contents=contents,
        buffers=[(COMMANDS, len(commands.words))],
    )  # fmt: skip
    assert check(task, list(HOSTS.values())[seed % len(HOSTS)]) == []
