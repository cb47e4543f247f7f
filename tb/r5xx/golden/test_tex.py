"""Fetches, kill, LAST, the conditional value; worked out by hand."""

from functools import partial

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, TextureOperation, ZeroTest
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.r5xx.machine import OUTPUT, Machine, alu, move, tex
from ctm.tb.r5xx.statements import begin_if, compare, constant_into, end_if, fetch, predicate

INPUT = 0x100000
ONE = 1


def bind(
    machine: Machine, values: np.ndarray, data_format: DataFormat, tiling: Tiling = Tiling.LINEAR
) -> CommandBuffer:
    """Put `values` into input 0."""
    layout = Layout(width=values.shape[1], height=values.shape[0], format=data_format, tiling=tiling)
    Image(memory=machine.memory, base=INPUT, layout=layout).write(values)
    return CommandBuffer().set_inp_fmt(0, INPUT, layout.format_word, layout.height)


GRID = np.arange(32, dtype=np.float32).reshape(4, 8)
"""Element (x, y) of an 8 x 4 input is 8 y + x."""


def found_at(coordinates: tuple[float, ...], operation: TextureOperation = TextureOperation.LOOKUP, *,
             unscaled: int = 1, tiling: Tiling = Tiling.LINEAR) -> list[float]:  # fmt: skip
    """The words of a fetch from GRID at fixed coordinates."""
    machine = Machine()
    machine.set_floats(5, *coordinates)
    before = bind(machine, GRID, DataFormat.FLOAT32_1, tiling)
    machine.load(
        [constant_into(2, 5), fetch(operation, source=2, unscaled=unscaled), move(0, 1, output=0, tex_sem_wait=1)]
    )
    return machine.start((0, 0, 0, 0), before=before)[0, 0, 0].tolist()


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("s", "t", "element"),
    [
        (2.0, 1.0, 10), (2.9, 1.9, 10), (-0.5, -3.0, 0), (100.0, 100.0, 31), (7.0, 3.0, 31), (NAN, 2.0, 16),
        (INFINITY, 0.0, 7), (-INFINITY, 3.5, 24), (1e-40, 0.0, 0),
    ],
)  # fmt: skip
def test_unscaled_coordinates_are_floors_clamped_to_the_edge(s: float, t: float, element: int) -> None:
    assert found_at((s, t, 0.0, 1.0)) == [element, 0, 0, 1]


@pytest.mark.parametrize(
    ("s", "t", "element"),
    [
        (0.0, 0.0, 0),
        (0.5, 0.5, 20),
        (0.99, 0.99, 31),
        (0.125, 0.25, 9),
        (1.0, -1.0, 7),
        (INFINITY, 0.0, 7),
        (NAN, 0.9, 24),
    ],
)
def test_scaled_coordinates_are_multiplied_by_pitch_and_height(s: float, t: float, element: int) -> None:
    assert found_at((s, t, 0.0, 1.0), unscaled=0) == [element, 0, 0, 1]


def test_projection_divides_by_q_first() -> None:
    # (1, 1) / 2 = (0.5, 0.5) of 8 x 4: element (4, 2).
    assert found_at((1.0, 1.0, 0.0, 2.0), TextureOperation.LOOKUP_PROJ, unscaled=0)[0] == 20
    # Unscaled: (6, 4) / 2 = (3, 2).
    assert found_at((6.0, 4.0, 0.0, 2.0), TextureOperation.LOOKUP_PROJ)[0] == 19
    # Q = 0: infinite coordinates, clamped to the far corner.
    assert found_at((1.0, 1.0, 0.0, 0.0), TextureOperation.LOOKUP_PROJ)[0] == 31


@pytest.mark.parametrize("operation", ["LODBIAS", "LOD", "DXDY", "LOOKUP_UNCACHED"])
def test_operations_with_a_level_are_fetches(operation: str) -> None:
    assert found_at((2.0, 1.0, 0.0, 5.0), TextureOperation[operation]) == [10, 0, 0, 1]


@pytest.mark.parametrize("tiling", [Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2])
def test_a_2x2_fetch_reads_right_up_diagonal_and_own(tiling: Tiling) -> None:
    assert found_at((2.0, 1.0, 0.0, 1.0), tiling=tiling) == [11, 18, 19, 10]
    # A tiled input of width 8 has a pitch of 32, filled with the edge element.
    assert found_at((7.0, 3.0, 0.0, 1.0), tiling=tiling) == [31, 31, 31, 31]
    assert found_at((-5.0, 9.0, 0.0, 1.0), tiling=tiling) == [25, 24, 25, 24]


def test_a_2x2_fetch_in_a_format_with_more_channels_takes_channel_0() -> None:
    machine = Machine()
    machine.memory.view(np.float32)[INPUT // 4 :][:64] = np.arange(64)
    word = Layout(width=4, height=4, format=DataFormat.FLOAT32_4).format_word | Tiling.LINEAR_INP_2X2.value << 16
    machine.load([fetch(), move(0, 1, output=0, tex_sem_wait=1)])
    before = CommandBuffer().set_inp_fmt(0, INPUT, word, 4)
    # Rows are 16 floats long: (1, 0), (0, 1), (1, 1), (0, 0).
    assert machine.start((0, 0, 0, 0), before=before)[0, 0, 0].tolist() == [4, 16, 20, 0]


def test_result_swizzle_mask_and_predicates_choose_what_is_written() -> None:
    machine = Machine()
    values = np.array([[[1, 2, 3, 4]] * 4], np.float32)
    before = bind(machine, values, DataFormat.FLOAT32_4)
    machine.set_floats(ONE, 1.0, 0, 0, 0)
    swizzle = {"dst_r_swiz": 3, "dst_g_swiz": 2, "dst_b_swiz": 1, "dst_a_swiz": 0}
    program = [
        predicate(ONE, ZeroTest.EQUAL, mask=1),
        fetch(swizzle=swizzle, rgb_wmask=5, rgb_pred_sel=2, alpha_pred_sel=2, alpha_pred_inv=1),
        move(0, 1, output=0, tex_sem_wait=1),
    ]
    machine.load(program)
    found = machine.start((0, 0, 1, 0), before=before)[0, 0]
    np.testing.assert_array_equal(found, [[0, 0, 0, 1], [4, 0, 2, 0]])


def test_an_input_without_elements_reads_zero_in_every_channel() -> None:
    machine = Machine()
    machine.load([fetch(tex_id=9), move(0, 1, output=0, tex_sem_wait=1)])
    assert machine.start((0, 0, 0, 0))[0, 0, 0].tolist() == [0, 0, 0, 0]


def test_ignore_uncovered_leaves_uncovered_destinations_unchanged() -> None:
    # The quad's lane 0 is uncovered; MDH copies lane 0's and lane 1's r1 to the covered lane 1: r1[1] - r1[0].
    for ignore, expected in ((0, 0.0), (1, 5.0)):
        machine = Machine()
        before = bind(machine, np.full((1, 8), 5, np.float32), DataFormat.FLOAT32_1)
        step = {"addr0": 1, "rgb_op": 11, "red_swiz_b": 6, "mod_b": 1, "rgb_addrd": 2}
        machine.load([fetch(ignore_uncovered=ignore), alu(rgb=step, rgb_wmask=1, tex_sem_wait=1), move(0, 2, output=0)])
        assert machine.start((1, 0, 1, 0), before=before)[0, 0, 1, 0] == expected


def test_updates_in_place_see_memory_as_it_was_at_the_start() -> None:
    # Pixel i reads element i + 1 of what is also the output, and stores it: a shift by one, without order.
    machine = Machine(lanes=16)
    layout = Layout(width=64, height=64, format=DataFormat.FLOAT32_4)
    image = Image(memory=machine.memory, base=OUTPUT, layout=layout)
    values = np.random.default_rng(3).random((64, 64, 4), np.float32)
    image.write(values)
    machine.set_floats(ONE, 1.0, 1.0, 0.0, 0.0)
    shifted = {"addr1": ONE, "addr1_const": 1, "red_swiz_b": 6, "green_swiz_b": 6, "rgb_sel_c": 1, "rgb_addrd": 2}
    shifted |= {"green_swiz_a": 1, "green_swiz_c": 1}
    machine.load([alu(rgb=shifted, rgb_wmask=3), fetch(source=2), move(0, 1, output=0, tex_sem_wait=1)])
    before = CommandBuffer().set_inp_fmt(0, OUTPUT, layout.format_word, 64)
    (found,) = machine.start((0, 0, 63, 63), before=before)
    edge = np.minimum(np.arange(64) + 1, 63)
    np.testing.assert_array_equal(found, values[edge][:, edge])


@pytest.mark.parametrize(
    ("word", "killed"),
    [
        (0xBF800000, True), (0x80000000, True), (0x80000001, True), (0x00000000, False), (0x3F800000, False),
        (0xFFC00000, False), (0xFF800000, True),
    ],
)  # fmt: skip
def test_kill_counts_minus_zero_as_less_and_nan_not(word: int, killed: bool) -> None:
    machine = Machine()
    machine.memory.write(0x20000 + 16 * 5, word.to_bytes(4, "little"))
    program = [
        alu(rgb={"addr0": 5, "addr0_const": 1, "rgb_op": 4, "omod": 7, "rgb_addrd": 2}, rgb_wmask=1),
        tex(inst={"inst": 2}, addr={"src_addr": 2}, rgb_wmask=7, alpha_wmask=1),
        move(0, 0, output=0),
    ]
    machine.load(program)
    assert machine.start((0, 0, 0, 0))[0, 0, 0, 3] == (0 if killed else 1)


def test_kill_looks_at_masked_and_predicated_channels_of_active_pixels_only() -> None:
    machine = Machine()
    machine.set_floats(5, 1.0, -1.0, 1.0, 1.0)
    machine.set_floats(ONE, 1.0, 1.0, 1.0, 1.0)
    kill = partial(tex, inst={"inst": 2}, addr={"src_addr": 2})
    for program, alive in (
        ([kill(rgb_wmask=5, alpha_wmask=1)], [1, 1]),
        ([kill(rgb_wmask=2)], [0, 0]),
        ([predicate(ONE, ZeroTest.EQUAL), kill(rgb_wmask=2, rgb_pred_sel=2)], [1, 0]),
    ):
        machine.load([constant_into(2, 5), *program, move(0, 0, output=0)])
        assert machine.start((0, 0, 1, 0))[0, 0, :, 3].tolist() == alive
        machine.memory.bytes[OUTPUT : OUTPUT + 256] = 0


def test_a_wavefront_whose_covered_pixels_are_all_killed_ends() -> None:
    machine = Machine()
    machine.set_floats(5, -1.0, 0, 0, 0)
    machine.load(
        [
            constant_into(2, 5),
            tex(inst={"inst": 2}, addr={"src_addr": 2}, rgb_wmask=1),
            move(0, 0),
            move(0, 0, output=0),
        ]
    )
    machine.start((0, 0, 3, 3))
    assert machine.counters.instructions == 2 * machine.counters.wavefronts


def test_last_ends_a_wavefront_when_all_valid_covered_pixels_are_active() -> None:
    machine = Machine()
    machine.set_floats(2, 2.0, 0, 0, 0)
    # For i < 2: r0 is stored and the wavefront may end; in that of i = 2, 3 none enters. A mixed wavefront goes on.
    program = [
        compare(2, ZeroTest.LESS),
        begin_if(4),
        move(0, 0, output=0, last=1),
        end_if(),
        move(0, 0, output=1),
    ]
    machine.load(program)
    first, second = machine.start((0, 0, 3, 0), outputs=2)
    assert first[0, :, 3].tolist() == [1, 1, 0, 0]
    assert second[0, :, 3].tolist() == [0, 0, 1, 1]
    wide = Machine(lanes=8)
    wide.set_floats(2, 2.0, 0, 0, 0)
    wide.load(program)
    first, second = wide.start((0, 0, 3, 0), outputs=2)
    assert first[0, :, 3].tolist() == [1, 1, 0, 0]
    assert second[0, :, 3].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("from_program", [0, 1])
@pytest.mark.parametrize("location", ConditionalLocation)
def test_the_conditional_value_is_the_programs_or_the_pes(location: ConditionalLocation, from_program: int) -> None:
    # The program sets v = i in its first OUTPUT. The PE's v is 1.5. Test: v < b with b = 2.
    machine = Machine()
    layout = Layout(width=8, height=1, format=DataFormat.FLOAT32_1)
    machine.memory.view(np.float32)[0x8000 // 4 :][:8] = 2.0
    copy = {"op": AlphaOperation.MIN.value, "swiz_a": 0, "swiz_b": 0, "w_omask": 1}
    machine.load([alu(alpha=copy, type=1), move(0, 0, output=0)], fg_depth_src=from_program)
    before = CommandBuffer().set_cond_out_fmt(0x8000, layout.format_word, 1).set_cond_test(ConditionalTest.LESS)
    before.set_cond_loc(location).set_cond_val(1.5).set_cond_out_mask(enable=True)
    found = machine.start((0, 0, 3, 0), before=before)[0, 0, :, 3]
    stored = machine.memory.view(np.float32)[0x8000 // 4 :][:4].tolist()
    if location is ConditionalLocation.DPP and from_program:
        assert found.tolist() == [1, 1, 0, 0]
        assert stored == [0, 1, 2, 2]
    else:
        assert found.tolist() == [1, 1, 1, 1]
        assert stored == [1.5] * 4


def test_a_killed_pixel_stores_no_conditional_value() -> None:
    machine = Machine()
    machine.set_floats(5, -1.0, 0.0, 0.0, 0.0)
    layout = Layout(width=8, height=1, format=DataFormat.FLOAT32_1)
    # r2.r = -i: all but i = 0 are killed; -0 would be killed too, so 0 - i is computed as 0 * ... + (-1) * i.
    rgb = {"addr1": 5, "addr1_const": 1, "sel_b": 1, "red_swiz_c": 4, "rgb_addrd": 2}
    machine.load(
        [alu(rgb=rgb, rgb_wmask=1), tex(inst={"inst": 2}, addr={"src_addr": 2}, rgb_wmask=1), move(0, 0, output=0)]
    )
    before = CommandBuffer().set_cond_out_fmt(0x8000, layout.format_word, 1).set_cond_val(9.0)
    before.set_cond_loc(ConditionalLocation.DPP).set_cond_out_mask(enable=True)
    machine.start((0, 0, 3, 0), before=before)
    # -1 * +0 + +0 = +0: i = 0 lives.
    assert machine.memory.view(np.float32)[0x8000 // 4 :][:4].tolist() == [9, 0, 0, 0]
