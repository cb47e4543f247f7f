"""Exports and the end of a program, with results worked out by hand."""

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.sim.runtime import CommandBuffer
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import moves, numbered, same
from ctm.tb.r700.machine import Job, Run, run
from ctm.tb.r700.words import export, group, slot

_ONE = 0x3F800000
_DEPTH = {"depth": True}


def ran(a: Assembly, *, information: dict | None = None, **job) -> Run:
    """Run a program; it must not fault."""
    a.end()
    found = run(Job(program=a.executable(**(information or {})), **{"domain": (0, 0, 1, 0), **job}))
    assert found.error is None, found.error
    return found


def partial(a: Assembly, *body) -> None:
    """Words for the pixels of column 1."""
    a.alu(group(slot("PRED_SETE", "_.x", "R0.x", "1.0", updates_mask=True)), name="ALU_PUSH_BEFORE")
    for each in body:
        a.raw(each)
    a.flow("POP", pop=1)


@pytest.mark.parametrize("name", ["EXPORT", "EXPORT_DONE"])
@pytest.mark.parametrize(
    ("selects", "expected"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 4)), ((3, 2, 1, 0), (4, 3, 2, 1)), ((2, 2, 2, 2), (3, 3, 3, 3)),
        ((4, 5, 4, 5), (0, _ONE, 0, _ONE)), ((7, 0, 7, 5), (None, 1, None, _ONE)), ((7, 7, 7, 7), (None,) * 4),
    ],
)  # fmt: skip
def test_selects(name: str, selects: tuple[int, ...], expected: tuple) -> None:
    a = Assembly()
    a.alu(moves(1, "#1", "#2", "#3", "#4"))
    a.raw(export(0, 1, selects, name=name))
    same(ran(a).outputs[0, 0], [list(expected)] * 2)


@pytest.mark.parametrize(("base", "burst"), [(0, 3), (0, 1), (1, 2), (2, 1), (3, 0)])
def test_bursts(base: int, burst: int) -> None:
    a = Assembly()
    for register in (14, 15):
        a.alu(moves(register, f"#{register:x}", f"#{register + 16:x}"))
    a.raw(export(base, 14, (1, 0, 7, 7), burst_count=burst))
    found = ran(a, targets=4).outputs[:, 0, 0]
    rows = [[30, 14], [31, 15], [0, 0], [0, 0]]
    expected: list[list[int | None]] = [[None] * 4 for _ in range(4)]
    for index in range(burst + 1):
        expected[base + index] = [*rows[index], None, None]
    same(found, expected)


def test_later_exports_overwrite_channels() -> None:
    a = Assembly()
    a.alu(moves(1, "#1", "#2", "#3", "#4"))
    a.raw(export(0, 1, (0, 1, 2, 7), name="EXPORT_DONE"))
    partial(a, export(0, 1, (3, 7, 7, 3)))
    a.raw(export(0, 1, (7, 7, 5, 7)))
    same(ran(a).outputs[0, 0], [[1, 2, _ONE, None], [4, 2, _ONE, 4]])


@pytest.mark.parametrize(("start", "step"), [(2, 0), (1, 1)])
def test_registers_relative_to_the_loop_index(start: int, step: int) -> None:
    a = Assembly()
    for register in (2, 3, 4):
        a.alu(moves(register, f"#{register:x}"))
    loop = a.flow("LOOP_START", to=8000, const=1)
    a.raw(export(0, 1, (0, 7, 7, 7), rw_rel=1, burst_count=1))
    a.flow("LOOP_END", to=loop + 1)
    found = ran(a, targets=2, ints={1: (2, start, step)}).outputs[:, 0, 0, 0]
    same(found, [3, 4])


@pytest.mark.parametrize("start", [15, 123, 124, 255])
def test_relative_registers_that_are_not_there(start: int) -> None:
    """Neither after the last one nor among the clause temporaries."""
    a = Assembly()
    a.alu(moves(124, "#7"), moves(1, "#9"))
    loop = a.flow("LOOP_START", to=8000, const=1)
    a.raw(export(0, 1, (0, 7, 7, 7), rw_rel=1))
    a.flow("LOOP_END", to=loop + 1)
    same(ran(a, ints={1: (1, start, 0)}).outputs[0, 0, :, 0], [0, 0])


def test_a_loop_without_an_index_is_a_loop() -> None:
    a = Assembly()
    a.alu(moves(1, "#9"))
    loop = a.flow("LOOP_START_NO_AL", to=8000, const=1)
    a.raw(export(0, 1, (0, 7, 7, 7), rw_rel=1))
    a.flow("LOOP_END", to=loop + 1)
    same(ran(a, ints={1: (1, 3, 3)}).outputs[0, 0, :, 0], [9, 9])


def test_which_pixels_export() -> None:
    """Active ones; of them those store that are covered and valid at the end, whenever they were killed."""
    a = Assembly()
    numbered(a)
    a.raw(export(0, 1, (0, 7, 7, 7)))
    a.alu(group(slot("KILLE", "_.x", "R0.x", "#40000000")))
    partial(a, export(0, 1, (7, 0, 7, 7)))
    a.raw(export(0, 1, (7, 7, 0, 7), valid_pixel_mode=1))
    covered = np.array([[1, 1, 1, 1], [1, 0, 1, 1]], bool)
    found = ran(a, domain=(0, 0, 3, 1), covered=covered, wavefront=16).outputs[0]
    none = [None] * 4
    same(found, [
        [[1.0, None, 1.0, None], [2.0, 2.0, 2.0, None], none, [4.0, None, 4.0, None]],
        [[17.0, None, 17.0, None], none, none, [20.0, None, 20.0, None]],
    ])  # fmt: skip


@pytest.mark.parametrize("wavefront", [4, 16])
def test_the_conditional_value(wavefront: int) -> None:
    """Component x of an export to 61; where it is masked, and in killed pixels, nothing changes."""
    a = Assembly()
    numbered(a)
    a.alu(group(slot("KILLE", "_.x", "R0.x", "#40000000")))
    a.raw(export(61, 1, (0, 5, 4, 7)))
    partial(a, export(61, 1, (5, 0, 0, 0)))
    a.raw(export(61, 1, (7, 0, 0, 0)))
    found = ran(a, information=_DEPTH, domain=(0, 0, 3, 0), conditional=True, wavefront=wavefront)
    same(found.conditional[0], [1.0, 1.0, None, 4.0])


def test_a_conditional_value_that_no_pixel_exports_is_zero() -> None:
    a = Assembly()
    partial(a, export(61, 0, (5, 7, 7, 7)))
    same(ran(a, information=_DEPTH, conditional=True).conditional[0], [0.0, 1.0])


def test_without_its_flag_the_conditional_value_is_the_command_buffers() -> None:
    """It is the 1.0 of the command buffer; the export is ignored."""
    a = Assembly()
    a.raw(export(61, 0, (4, 4, 4, 4)))
    a.raw(export(0, 0, (3, 7, 7, 7)))
    found = ran(a, conditional=True)
    same(found.conditional[0], [1.0, 1.0])
    same(found.outputs[0, 0, :, 0], [1.0, 1.0])


def test_outputs_of_pixels_whose_test_fails() -> None:
    """Values 1 to 4 against 0xDEADBEEF, a negative number that is less; then those above 2.0 only."""
    a = Assembly()
    numbered(a)
    a.raw(export(0, 1, (0, 7, 7, 7)))
    a.raw(export(61, 1))
    a.end()
    program = a.executable(depth=True)
    for test, stores in ((ConditionalTest.GREATER, True), (ConditionalTest.LESS, False)):
        before = CommandBuffer().set_cond_test(test)
        found = run(Job(program=program, domain=(0, 0, 3, 0), before=before, conditional=True))
        same(found.outputs[0, 0, :, 0], [1.0, 2.0, 3.0, 4.0] if stores else [None] * 4)
        same(found.conditional[0], [1.0, 2.0, 3.0, 4.0] if stores else [None] * 4)


def test_the_output_mask() -> None:
    a = Assembly()
    a.alu(moves(1, "#1", "#2", "#3", "#4"))
    a.raw(export(0, 1))
    mask = CommandBuffer().set_out_mask(red=False, green=True, blue=False, alpha=True)
    same(ran(a, before=mask).outputs[0, 0], [[None, 2, None, 4]] * 2)


def test_a_program_that_faults_exports_nothing() -> None:
    """Its wavefront, that is: the other one has ended."""
    a = Assembly()
    a.raw(export(0, 0))
    a.alu(group(slot("PRED_SETGE", "_.x", "R0.x", "#40000000", updates_mask=True)), name="ALU_PUSH_BEFORE")
    a.flow("JUMP", to=5, pop=1)
    a.flow("END_PROGRAM")
    a.flow("POP", pop=1)
    a.end()
    found = run(Job(program=a.executable(), domain=(0, 0, 3, 0)))
    assert found.fault == ("ILLEGAL_INSTRUCTION", 3, 0, 2, 0)
    same(found.outputs[0, 0, :, 3], [1.0, 1.0, None, None])
