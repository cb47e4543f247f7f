"""What an instruction is found to use."""

import pytest

from ctm.rtl.isa.r5xx.instruction import (
    ALPHA_ADDR,
    ALPHA_INST,
    COMMON,
    FC_ADDR,
    FC_INST,
    RGB_ADDR,
    RGB_INST,
    RGBA_INST,
    TEX_ADDR,
    TEX_ADDR_DXDY,
    TEX_INST,
)
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, FlowOperation, InstructionType, RgbOperation, TextureOperation
from ctm.rtl.isa.word import pack
from ctm.sim.elf.r5xx.notes import derive_notes
from ctm.sim.elf.r5xx.registers import Registers
from ctm.sim.elf.r5xx.usage import usage

RGB_SOURCES = pack(RGB_ADDR, addr0=1, addr1=2, addr2=3)
ALPHA_SOURCES = pack(ALPHA_ADDR, addr0=11, addr1=12, addr2=13)
A_B_ARE_SRC0_SRC1 = pack(RGB_INST, sel_a=0, green_swiz_a=1, blue_swiz_a=2, sel_b=1, green_swiz_b=1, blue_swiz_b=2)


def direct(*indices: int) -> Registers:
    return Registers(frozenset(indices))


def alu(rgb_op: RgbOperation, alpha_op: AlphaOperation = AlphaOperation.MAD, *, mask: int, output: bool = False):
    """An instruction with src0, src1, src2 as RGB operands A, B, C, and as alpha operands too."""
    kind = InstructionType.OUTPUT if output else InstructionType.ALU
    alpha = pack(ALPHA_INST, op=alpha_op.value, sel_a=0, swiz_a=3, sel_b=1, swiz_b=3, addrd=40)
    both = pack(
        RGBA_INST, rgb_op=rgb_op.value, rgb_sel_c=2, green_swiz_c=1, blue_swiz_c=2, alpha_sel_c=2, alpha_swiz_c=3,
        rgb_addrd=30,
    )  # fmt: skip
    masks = {"rgb_omask": mask & 7, "alpha_omask": mask >> 3} if output else {}
    common = pack(COMMON, type=kind.value, rgb_wmask=mask & 7, alpha_wmask=mask >> 3, **masks)
    return common, RGB_SOURCES, ALPHA_SOURCES, A_B_ARE_SRC0_SRC1, alpha, both


@pytest.mark.parametrize(
    ("rgb_op", "alpha_op", "mask", "reads"),
    [
        (RgbOperation.MAD, AlphaOperation.MAD, 0b0000, ()),
        (RgbOperation.MAD, AlphaOperation.MAD, 0b0001, (1, 2, 3)),
        (RgbOperation.MAD, AlphaOperation.MAD, 0b1000, (11, 12, 13)),
        (RgbOperation.MIN, AlphaOperation.MAX, 0b1111, (1, 2, 11, 12)),
        (RgbOperation.CND, AlphaOperation.CMP, 0b1111, (1, 2, 3, 11, 12, 13)),
        (RgbOperation.FRC, AlphaOperation.FRC, 0b1111, (1, 11)),
        (RgbOperation.DP3, AlphaOperation.MAD, 0b0001, (1, 2)),
        (RgbOperation.DP3, AlphaOperation.DP, 0b1000, (1, 2)),
        (RgbOperation.DP4, AlphaOperation.DP, 0b1000, (1, 2, 11, 12)),
        (RgbOperation.D2A, AlphaOperation.DP, 0b0111, (1, 2, 3)),
        (RgbOperation.SOP, AlphaOperation.RCP, 0b0100, (11,)),
        (RgbOperation.MDH, AlphaOperation.MDV, 0b1111, (1, 2, 11, 12)),
    ],
)
def test_operands_that_count(rgb_op, alpha_op, mask: int, reads: tuple[int, ...]) -> None:
    found = usage(alu(rgb_op, alpha_op, mask=mask))
    assert found.reads == direct(*reads)
    assert found.writes == direct(*[30] * bool(mask & 7), *[40] * bool(mask & 8))
    assert found.bubble == (direct(1, 11) if rgb_op is RgbOperation.MDH else direct())


def test_presubtract_reads_its_sources_and_needs_the_bubble() -> None:
    common = pack(COMMON, rgb_wmask=7)
    rgb_addr = pack(RGB_ADDR, addr0=5, addr1=6, addr1_rel=1, srcp_op=1)
    found = usage((common, rgb_addr, 0, pack(RGB_INST, sel_a=3), 0, pack(RGBA_INST, red_swiz_c=4)))
    assert found.bubble == Registers(frozenset({5}), relative=True)
    one_source = usage((common, pack(RGB_ADDR, addr0=5, addr1=6), 0, pack(RGB_INST, sel_a=3, sel_b=3), 0, 3 << 12))
    assert one_source.bubble == direct(5)


def test_notes_of_a_program() -> None:
    constants = pack(RGB_ADDR, addr0=200, addr0_const=1, addr1=100, addr1_const=1, addr1_rel=1, addr2=0x80)
    output = list(alu(RgbOperation.MAD, mask=0b1111, output=True))
    output[1] = constants
    output[0] |= pack(COMMON, last=1)
    output[3] |= pack(RGB_INST, target=2)
    output[4] |= pack(ALPHA_INST, target=1, w_omask=1)
    fetch = (
        pack(COMMON, type=InstructionType.TEX.value, rgb_wmask=1),
        pack(TEX_INST, tex_id=9, inst=TextureOperation.DXDY.value),
        pack(TEX_ADDR, src_addr=1, dst_addr=2),
        pack(TEX_ADDR_DXDY, dx_addr=3, dy_addr=4),
    )
    kill = (fetch[0], pack(TEX_INST, tex_id=7, inst=TextureOperation.KILL_LT_0.value), *fetch[2:])
    loop = (InstructionType.FC.value, 0, pack(FC_INST, op=FlowOperation.LOOP.value), pack(FC_ADDR, int_addr=17), 0, 0)
    jump = (InstructionType.FC.value, 0, 0, pack(FC_ADDR, int_addr=18), 0, 0)
    program = [output, (*fetch, 0, 0), (*kill, 0, 0), loop, jump]
    notes = derive_notes(program)
    assert (notes.inputs, notes.outputs, notes.conditional_output) == ((9,), (1, 2), True)
    assert (notes.float_constants, notes.int_constants, notes.early_exit) == ((200,), (17,), True)
    assert derive_notes(program, uncached_writes=True).outputs == (0,)
    assert usage(program[1]).reads == direct(1, 3, 4)
    assert usage(program[1]).writes == direct(2)
    assert usage(program[2]).reads == direct(1) and not usage(program[2]).writes
