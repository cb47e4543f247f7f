"""What is the same in many lanes is computed once for them: domains of all shapes, and what breaks it."""

import numpy as np
import pytest

from ctm.rtl.config import with_settings
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.engines.fast.arrangement import may_keep_rows, positions
from ctm.sim.engines.fast.host import Host
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.fast.comparison import COMMANDS, Task, check, machine

PROGRAM, FLOATS, INTS, INPUTS, OUTPUTS, STEP = 0x1_0000, 0x2_0000, 0x3_0000, 0x10_0000, 0x20_0000, 0x2_0000
SIDE = 48
BODIES = {
    "by rows and columns": """
        TEX r2 = LOOKUP(i0, r1.rg) unscaled         ; one element
        TEX r3 = LOOKUP(i1, r0.gr).bgra unscaled    ; both coordinates
        ALU r4 = MOV(r0.gg00)
        TEX r5 = LOOKUP(i0, r4.rg) unscaled         ; one element for each row
        TEX r6 = LOOKUP(i1, r1.gr)
        TEX r9 = LOOKUP_PROJ(i1, r1.rgrg)
        ALU r7 = MAD(r2, r3, r7)
        ALU r7.rgb = MAD(r5, r6, r7) || r7.a = RCP(r5.r)
        ALU r8 = DP4(r5, r2)
        ALU r7 = MAD(r8, r9, r7)
        ALU r1.rg = ADD(r1, 1) || r1.a = EX2(r5.r)
    """,
    "through predicates": """
        ALU p.b[>=0] = ADD(r0.r, -5.0)
        TEX (p) r1.b = LOOKUP(i0, r1.rg) unscaled
        ALU r7 = MAD(r1, r1, r7)
        ALU r1.rg = ADD(r1, 1)
    """,
    "by presubtraction": """
        ALU r2.rg = MAD((r1 - r0), 0.5, c0) || r2.a = MUL((1 - r1), c0.a)
        ALU r3.rg = FRC((1 - 2*r1)) clamp || r3.a = MIN(r0.g, -r1.r)
        ALU r7 = MAD(r2, r3, r7)
        ALU r1.rg = ADD(r1, c0) || r7.a = CMP(r1.r, r0.g, r2.a)
    """,
    "of derivatives": """
        ALU r2 = MDH(r0, -1)
        ALU r3 = MDV(r1, -1)
        ALU r7 = MAD(r2, r3, r7)
        ALU r1.rg = ADD(r1, r0.g)
    """,
}
DOMAINS = [
    (0, 0, 15, 7), (0, 0, 47, 47), (1, 1, 1, 1), (3, 2, 3, 9), (5, 1, 30, 4), (0, 3, 46, 3), (2, 2, 33, 5),
    (7, 7, 12, 40),
]  # fmt: skip


def task(body: str, domain: tuple[int, int, int, int], group: int, walk: str) -> Task:
    """A body in a loop of five rounds; r1.rg counts from (0, 0), r7 is the result."""
    text = f"REP i0\n{body}\nENDREP\nOUT o0 = MOV(r7)\n"
    generator = np.random.default_rng(1)
    contents = [(PROGRAM, write(assemble(text)))]
    commands = CommandBuffer().set_inst_fmt(PROGRAM).set_constf_fmt(FLOATS).set_consti_fmt(INTS)
    floats = {0: tuple(int(word) for word in np.array([1.5, 2.0, 0.25, 3.0], np.float32).view(np.uint32))}
    for address, data in zip((FLOATS, INTS), ConstantFiles(floats=floats, ints={0: 5}).images()[:2], strict=True):
        contents.append((address, data))
    layouts = [
        Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_4, tiling=Tiling.TILED),
        Layout(width=SIDE, height=SIDE, format=DataFormat.UINT8_4, tiling=Tiling.LINEAR),
    ]
    for number, layout in enumerate(layouts):
        memory, base = Memory(), INPUTS + STEP * number
        values = generator.integers(0, 256, (SIDE, SIDE, 4)).astype((np.float32, np.uint8)[number])
        Image(memory=memory, base=base, layout=layout).write(values)
        contents.append((base, memory.read(base, layout.size)))
        commands.set_inp_fmt(number, base, layout.format_word, layout.height)
    commands.set_out_fmt(0, OUTPUTS, layouts[0].format_word, SIDE).set_domain(*domain).start_program()
    contents.append((COMMANDS, bytes(commands)))
    buffers = [(COMMANDS, len(commands.words))]
    config = with_settings(machine(group), {"array.walk": walk})
    return Task(name=f"{domain}", config=config, watchdog=0, contents=contents, buffers=buffers)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("group", [4, 16])
def test_programs_of_many_spans(body: str, group: int) -> None:
    for number, domain in enumerate(DOMAINS):
        walk = ("rows", "tiles")[number // 3 % 2]
        assert check(task(BODIES[body], domain, group, walk), Host.this((16, 8, 4)[number % 3])) == []


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 31, 32, 64])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_groups_of_a_vector_are_in_one_row(width: int, size: int) -> None:
    domain = Domain(i0=0, j0=0, i1=2 * width - 1, j1=9)
    (groups,) = domain.wavefronts(4, 1 << 16)
    (tiled,) = domain.wavefronts(4, 1 << 16, (2, 4))
    for chosen in (groups, groups.select(np.arange(groups.order.size) % 3 != 1), tiled):
        found = positions(chosen, size, rows=True)
        assert np.unique(found).size == found.size
        for vector in range(int(found[-1]) // size + 1):
            inside = chosen.j[found // size == vector]
            assert inside.size and np.all(inside == inside[0])
    assert np.array_equal(positions(groups, size, rows=False), np.arange(groups.order.size))
    assert may_keep_rows(domain, 4, size) == (width % size == 0 or width >= 4 * size)
