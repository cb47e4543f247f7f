"""Which pixels execute: whole quads, valid, uncovered, killed ones; what ends a wavefront. Worked out by hand."""

import numpy as np
import pytest

from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import ROWS, add, execute, finish, numbered, same, where
from ctm.tb.r700.machine import Job, Run, run
from ctm.tb.r700.words import Unit, export, group, share_read, share_write, slot, tex, vtx


@pytest.mark.parametrize("wavefront", [4, 16])
def test_whole_quads_execute(wavefront: int) -> None:
    """Of the first quad one pixel is active, of the second none; the mode lasts for one clause."""
    a = Assembly()
    a.fetch(vtx(2, 0, dst_sel_y=7, dst_sel_z=7, dst_sel_w=7))
    where(a, "GE", "#00000000", "R0.x")
    a.alu(add(1))
    a.alu(add(10), whole_quad_mode=1)
    a.fetch(vtx(3, 4), whole_quad_mode=1)
    a.alu(add(100))
    a.alu(add(1000), name="ALU_POP_AFTER", whole_quad_mode=1)
    found = execute(a, (1, 3), domain=(0, 0, 3, 0), wavefront=wavefront)
    same(found.outputs[0, 0, :, 0], [1111.0, 1010.0, 0.0, 0.0])
    same(found.outputs[1, 0, :, 3], [0.75, 0.75, 0.0, 0.0])


def test_a_predicate_of_whole_quads() -> None:
    """It takes pixels out of the branch that execute by the mode only: they are inactive already."""
    a = Assembly()
    where(a, "GE", "#00000000", "R0.x")
    clause = group(slot("PRED_SETE", "R1.y", "R0.x", "1.0", updates_mask=True))
    a.alu(clause, group(slot("MOV", "R1.z", "1.0")), whole_quad_mode=1)
    a.alu(add(1))
    a.flow("POP", pop=1)
    a.alu(add(2))
    found = execute(a, domain=(0, 0, 1, 0)).outputs[0, 0]
    same(found[:, :3], [[2.0, 1.0, 0.0], [2.0, 0.0, 0.0]])


def share_of_lane(lane: int) -> tuple[list[Unit], list[Unit]]:
    """A group that gives the address of a pixel in the data share, and the instruction that reads it to R3."""
    bank, row = lane & 3, 4 * (lane >> 2)
    return group(slot("MOV", "R2.x", f"#{bank:x}"), slot("MOV", "R2.y", f"#{row:x}")), share_read(3, 2)


@pytest.mark.parametrize(
    ("name", "modes", "seen"),
    [
        ("TEX", {}, [1.0, 2.0, 17.0, 18.0]),
        ("TEX", {"valid_pixel_mode": 1}, [1.0, 0.0, 0.0, 0.0]),
        ("VTX", {"valid_pixel_mode": 1}, [1.0, 0.0, 0.0, 0.0]),
        ("VTX_TC_ACK", {"valid_pixel_mode": 1}, [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_valid_pixels_only(name: str, modes: dict[str, int], seen: list[float]) -> None:
    """Of a quad pixel 1 is killed and the lower two are uncovered: an exchange among pixels tells their effects."""
    a = Assembly()
    numbered(a, "R4.x")
    a.alu(group(slot("KILLE", "_.x", "R0.x", "1.0")))
    a.fetch(share_write(4, dst_stride=4), name=name, **modes)
    for lane in range(4):
        address, load = share_of_lane(lane)
        a.alu(address)
        a.fetch(load)
        a.alu(group(slot("MOV", f"R1.{'xyzw'[lane]}", "R3.x")))
    found = execute(a, domain=(0, 0, 1, 0), information={"lds_dwords": 4})
    same(found.outputs[0, 0, 0], seen)


def test_valid_pixel_mode_changes_no_mask_but_that_of_a_push() -> None:
    a = Assembly()
    numbered(a, "R4.x")
    a.alu(group(slot("KILLE", "_.x", "R0.x", "1.0")))
    a.flow("PUSH", to=8000, valid_pixel_mode=1)
    a.fetch(share_write(4, dst_stride=4, src_sel_y=7, src_sel_z=7, src_sel_w=7))
    a.flow("POP", pop=1)
    a.alu(group(slot("MOV", "R4.y", "R4.x")))
    a.flow("JUMP", to=a.here + 1, valid_pixel_mode=1)
    a.fetch(share_write(4, dst_stride=4, src_sel_x=7, src_sel_z=7, src_sel_w=7))
    address, load = share_of_lane(1)
    a.alu(address)
    a.fetch(load)
    found = execute(a, (3,), domain=(0, 0, 1, 0), information={"lds_dwords": 4})
    same(found.outputs[0, 0, 0], [0.0, 2.0, 0.0, 0.0])


def test_uncovered_pixels_compute() -> None:
    """A domain of one pixel: the differences of the quad's lower pixels are right."""
    a = Assembly()
    a.alu(group(slot("MULADD", "R2.x", "R0.x", "#40400000", "R0.y"), slot("MUL", "R2.y", "R0.x", "R0.y")))
    a.fetch(tex("GET_GRADIENTS_H", 1, 2, dst_sel_z=7, dst_sel_w=7))
    a.fetch(tex("GET_GRADIENTS_V", 1, 2, src_sel_z=0, src_sel_w=1, dst_sel_x=7, dst_sel_y=7))
    # At (4, 6): x is 3 i + j, y is i j.
    same(execute(a, domain=(4, 6, 4, 6)).outputs[0, 6, 4], [3.0, 7.0, 1.0, 4.0])


@pytest.mark.parametrize("by", ["word", "instruction"])
def test_killed_pixels_compute(by: str) -> None:
    """Lane 3 of the quad is killed, and still the difference to it is one."""
    a = Assembly()
    a.alu(group(slot("MUL", "R2.x", "R0.x", "R0.y")))
    if by == "word":
        where(a, "E", "R2.x", "1.0")
        a.flow("KILL")
        a.flow("POP", pop=1)
    else:
        a.alu(group(slot("KILLE", "_.x", "R2.x", "1.0")))
    a.alu(group(slot("MULADD", "R2.x", "R0.x", "#40400000", "#40e00000")))
    a.fetch(tex("GET_GRADIENTS_H", 1, 2))
    same(execute(a, domain=(0, 0, 1, 1)).outputs[0, :, :, 0], [[3.0, 3.0], [3.0, None]])


@pytest.mark.parametrize("by", ["word", "instruction"])
def test_a_wavefront_ends_when_no_pixel_is_valid(by: str) -> None:
    """After the kill comes an instruction that would fault. One quad goes on to it, the first one does not."""
    a = Assembly()
    where(a, "GT", "#40000000", "R0.x")
    if by == "word":
        a.flow("KILL")
    else:
        a.alu(group(slot("KILLE", "_.x", "0", "0")))
    a.raw((0, 0x9980_0000))
    program = a.executable()
    assert run(Job(program=program, domain=(0, 0, 1, 1))).error is None
    assert run(Job(program=program, domain=(0, 0, 3, 1))).fault == ("ILLEGAL_INSTRUCTION", 2, 0, 2, 0)
    assert run(Job(program=program, domain=(0, 0, 3, 1), wavefront=16)).fault == ("ILLEGAL_INSTRUCTION", 2, 0, 0, 0)
    count = run(Job(program=program, domain=(0, 0, 1, 1))).instructions
    assert count == {"word": 3, "instruction": 4}[by]


@pytest.mark.parametrize(
    "last",
    [
        lambda a: a.flow("NOP", end_of_program=1),
        lambda a: a.flow("JUMP", to=8000, cond="FALSE", end_of_program=1),
        lambda a: a.flow("ELSE", to=8000, end_of_program=1),
        lambda a: a.flow("POP", pop=1, end_of_program=1),
        lambda a: a.flow("KILL", valid_pixel_mode=1, end_of_program=1),
        lambda a: a.flow("CALL", to=8000, end_of_program=1),
        lambda a: a.flow("LOOP_START_DX10", to=8000, end_of_program=1),
        lambda a: a.flow("WAIT_ACK", end_of_program=1),
        lambda a: a.fetch(vtx(2, 0), vtx(2, 0), end_of_program=1),
        lambda a: a.raw(export(1, 0, end_of_program=1)),
    ],
)
def test_the_last_word_is_executed_and_nothing_after_it(last) -> None:
    """Wherever it goes; what is left on the stack is no error."""
    a = Assembly()
    a.alu(add(1))
    a.raw(export(0, 1))
    a.flow("PUSH", to=8000)
    last(a)
    a.raw((0, 0x9980_0000))
    for wavefront in (4, 64):
        found = run(Job(program=a.executable(), domain=(0, 0, 2, 2), wavefront=wavefront))
        assert found.error is None, found.error
    kills = a.words[3]()[1] >> 23 & 0x7F == 0x18
    same(found.outputs[0, 0, :, 0], [None if kills else 1.0] * 3)


def test_pixels_at_the_start() -> None:
    a = Assembly()
    a.alu(group(*(slot("MOV", f"R1.{c}", f"R0.{c}") for c in "xyzw")))
    program = finish(a, (1, 2))
    found: Run = run(Job(program=program, domain=(4093, 2, 4095, 4), targets=2, floats=ROWS, wavefront=16))
    expected = [[[float(i), float(j), 0.0, 1.0] for i in range(4093, 4096)] for j in range(2, 5)]
    same(found.outputs[0, 2:, 4093:], expected)
    same(found.outputs[1, 2:, 4093:], np.zeros((3, 3, 4), np.uint32).tolist())
