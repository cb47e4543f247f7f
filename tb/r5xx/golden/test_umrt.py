"""Uncached writes and reads; worked out by hand."""

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import TextureOperation, UmrtTarget, ZeroTest
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r5xx.machine import OUTPUT, Instruction, Machine, alu, move
from ctm.tb.r5xx.statements import fetch, predicate

NAN = float("nan")


def uncached_write(target: UmrtTarget, *, source: int = 1, **fields: int) -> Instruction:
    """OUT of (R, G, B, A) = temporary `source` to UMRT."""
    return move(0, source, output=target.value, **fields)


def data_and_position(x: tuple[float, float], y: tuple[float, float]) -> list[Instruction]:
    """r1 = (10 + i, x[0] * i + x[1], y[0] * j + y[1], 0)."""
    rgb = {"addr1": 5, "addr1_const": 1, "addr2": 6, "addr2_const": 1, "sel_b": 1, "rgb_sel_c": 2, "rgb_addrd": 1}
    rgb |= {"red_swiz_a": 0, "green_swiz_a": 0, "blue_swiz_a": 1}
    rgb |= {f"{color}_swiz_{name}": channel for name in "bc" for channel, color in enumerate(("red", "green", "blue"))}
    return [alu(rgb=rgb, rgb_wmask=7)]


def umrt(target: UmrtTarget, x: tuple[float, float], y: tuple[float, float], domain: tuple[int, int, int, int], *,
         more: list[Instruction] | None = None, lanes: int = 4, **fields: int) -> np.ndarray:  # fmt: skip
    """The 8 x 8 output of an uncached-write program that stores 10 + i at (x0 i + x1, y0 j + y1)."""
    machine = Machine(lanes=lanes)
    machine.set_floats(5, 1.0, x[0], y[0], 0.0)
    machine.set_floats(6, 10.0, x[1], y[1], 0.0)
    layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_1)
    write = uncached_write(target, **fields)
    machine.load([*data_and_position(x, y), *(more or []), write], uncached_writes=True)
    before = CommandBuffer().set_inst_fmt(0x10000).set_constf_fmt(0x20000)
    before.set_out_fmt(0, OUTPUT, layout.format_word, 8).set_domain(*domain).start_program()
    machine.commands(before)
    return machine.output(0, layout)[..., 0]


@pytest.mark.parametrize("target", [UmrtTarget.PER_PROCESSOR_IDX, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_per_pixel_writes_go_where_each_says(target: UmrtTarget, lanes: int) -> None:
    expected = np.zeros((8, 8))
    for i in range(3):
        expected[1:3, 7 - i] = 10 + i
    found = umrt(target, (-1.0, 7.0), (1.0, 1.9), (0, 0, 2, 1), lanes=lanes)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", [UmrtTarget.SAME_IDX, UmrtTarget.SAME_IDX_ACQUIRE])
@pytest.mark.parametrize("lanes", [4, 8])
def test_same_index_takes_the_lowest_active_covered_lane_of_each_quad_and_the_last_lane_wins(
    target: UmrtTarget, lanes: int
) -> None:
    # Quads at i = 0 and 2: lane 0 is (0, 0) and (2, 0); the last lane has i = 1 and 3.
    found = umrt(target, (1.0, 0.0), (1.0, 0.0), (0, 0, 3, 1), lanes=lanes)
    assert [(int(y), int(x), found[y, x]) for y, x in np.argwhere(found)] == [(0, 0, 11), (0, 2, 13)]
    # Lane 0 uncovered: lane 1, at (1, 0), leads; lane 3 is the last.
    found = umrt(target, (1.0, 0.0), (1.0, 0.0), (1, 0, 1, 1), lanes=lanes)
    assert [(int(y), int(x), found[y, x]) for y, x in np.argwhere(found)] == [(0, 1, 11)]


def test_uncached_writes_outside_or_nowhere_are_dropped() -> None:
    # x = i - 1 is negative for i = 0; x = 4 i + 4 leaves 8 columns for i >= 1.
    found = umrt(UmrtTarget.PER_PROCESSOR_IDX, (1.0, -1.0), (0.0, 0.0), (0, 0, 1, 0))
    assert [(int(y), int(x)) for y, x in np.argwhere(found)] == [(0, 0)]
    found = umrt(UmrtTarget.PER_PROCESSOR_IDX, (4.0, 4.0), (0.0, 0.0), (0, 0, 3, 0))
    assert [(int(y), int(x)) for y, x in np.argwhere(found)] == [(0, 4)]
    assert not umrt(UmrtTarget.PER_PROCESSOR_IDX, (1.0, NAN), (0.0, 0.0), (0, 0, 3, 0)).any()


def test_an_uncached_write_is_predicated() -> None:
    machine_predicate = predicate(5, ZeroTest.EQUAL)  # c5.r = 1: i == 1
    found = umrt(
        UmrtTarget.PER_PROCESSOR_IDX, (1.0, 0.0), (1.0, 0.0), (0, 0, 3, 0), more=[machine_predicate], rgb_pred_sel=2
    )
    assert [(int(y), int(x), found[y, x]) for y, x in np.argwhere(found)] == [(0, 1, 11)]


def test_a_partial_mask_of_an_uncached_write_is_illegal() -> None:
    with pytest.raises(MachineError) as caught:
        umrt(UmrtTarget.PER_PROCESSOR_IDX, (1.0, 0.0), (1.0, 0.0), (0, 0, 0, 0), alpha_omask=0)
    assert (caught.value.status, caught.value.pc) == (Status.ILLEGAL_INSTRUCTION, 1)


def test_uncached_writes_need_output_0_as_float32_1() -> None:
    machine = Machine()
    machine.load([uncached_write(UmrtTarget.SAME_IDX)], uncached_writes=True)
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 0, 0))
    assert caught.value.status is Status.BAD_UMRT_FORMAT


def test_uncached_reads_see_uncached_writes_and_cached_reads_memory_as_it_was() -> None:
    # Each pixel stores 10 + i at (i, 0), reads it cached and uncached, and stores cached + 100 uncached at (i, 1).
    machine = Machine()
    machine.set_floats(5, 1.0, 1.0, 0.0, 0.0)
    machine.set_floats(6, 10.0, 0.0, 0.0, 0.0)
    machine.set_floats(7, 100.0, 1.0, 0.0, 0.0)
    layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_1)
    machine.memory.view(np.float32)[OUTPUT // 4 :][:8] = 3.0
    both = {"addr0": 3, "addr1": 7, "addr1_const": 1, "addr2": 2, "sel_b": 1, "rgb_sel_c": 2, "rgb_addrd": 1}
    program = [
        *data_and_position((1.0, 0.0), (0.0, 0.0)),
        uncached_write(UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE, tex_sem_wait=1),
        fetch(TextureOperation.LOOKUP, source=0, destination=2),
        fetch(TextureOperation.LOOKUP_UNCACHED, source=0, destination=3),
        alu(rgb=both, rgb_wmask=1, tex_sem_wait=1),
        alu(rgb={"rgb_addrd": 1, "blue_swiz_a": 6, "blue_swiz_b": 6, "blue_swiz_c": 4}, rgb_wmask=4),
        uncached_write(UmrtTarget.PER_PROCESSOR_IDX),
    ]
    machine.load(program, uncached_writes=True)
    commands = CommandBuffer().set_inst_fmt(0x10000).set_constf_fmt(0x20000)
    commands.set_out_fmt(0, OUTPUT, layout.format_word, 8).set_inp_fmt(0, OUTPUT, layout.format_word, 8)
    machine.commands(commands.set_domain(0, 0, 3, 0).start_program())
    found = machine.output(0, layout)[..., 0]
    assert found[0].tolist() == [10, 11, 12, 13, 3, 3, 3, 3]
    assert found[1].tolist() == [1003, 1103, 1203, 1303, 0, 0, 0, 0]
