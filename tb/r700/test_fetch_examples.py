"""Fetches with results worked out by hand: textures, vertex fetches, differences in quads."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.formats import Tiling
from ctm.rtl.isa.r700.program import ProgramType
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import NAN, execute, moves, same
from ctm.tb.r700.machine import Input
from ctm.tb.r700.words import Unit, group, slot, tex, vtx

_WIDTH, _HEIGHT = 8, 4
COORDINATES_INPUT = Input(values=np.array([[[x + 10 * y] for x in range(_WIDTH)] for y in range(_HEIGHT)], np.float32))
"""An input whose elements have their coordinates: x + 10 y."""
VECTORS = Input(values=np.array([[[n + 8 * y, 0.5, -n, 7] for n in range(8)] for y in range(2)], np.float32))
_UNNORMALISED: dict[str, Any] = {f"coord_type_{c}": 0 for c in "xyzw"}
_NORMALISED: dict[str, Any] = {f"coord_type_{c}": 1 for c in "xyzw"}


def looked_up(x: str, y: str, name: str = "SAMPLE", **fields) -> float:
    """The texel of a fetch from COORDINATES_INPUT at given coordinates."""
    a = Assembly()
    a.alu(moves(2, x, y))
    a.fetch(tex(name, 1, 2, **fields))
    found = execute(a, domain=(0, 0, 0, 0), inputs={0: COORDINATES_INPUT}).outputs[0, 0, 0]
    same(found[1:], [0.0, 0.0, 1.0])
    return float(found.view(np.float32)[0])


@pytest.mark.parametrize(
    ("x", "y", "offset_x", "offset_y", "texel"),
    [
        ("0", "0", 0, 0, (0, 0)),
        ("#40200000", "#3ff00000", 0, 0, (2, 1)),  # 2.5, 1.875
        ("#40200000", "#3ff00000", 1, 0, (3, 1)),  # 3.0
        ("#401fffff", "0", 1, 0, (2, 0)),  # just below 3.0
        ("#40200000", "#3f000000", 31, 1, (2, 1)),  # 2.0, 1.0
        ("#401fffff", "0", 31, 0, (1, 0)),
        ("#40a00000", "#40000000", 16, 15, (0, 3)),  # 5 - 8, 2 + 7.5
        ("#40a00000", "#40400000", 29, 30, (3, 2)),  # 3.5, 2.0
        ("0", "#80000001", 31, 31, (0, 0)),
        ("#c2c80000", "#42c80000", 0, 0, (0, 3)),
        ("#7f800000", "#ff800000", 5, 5, (7, 0)),
        ("#7fc00000", "#ffffffff", 4, 2, (2, 1)),  # a NaN is 0
        ("#4b7fffff", "#7f7fffff", 16, 16, (7, 3)),
        ("#bf000000", "#3f7fffff", 1, 1, (0, 1)),  # 0.0, 1.49999994
        ("#bf000001", "0", 1, 0, (0, 0)),
    ],
)  # fmt: skip
def test_coordinates_that_count_elements(x: str, y: str, offset_x: int, offset_y: int, texel: tuple[int, int]) -> None:
    found = looked_up(x, y, offset_x=offset_x, offset_y=offset_y, **_UNNORMALISED)
    assert found == texel[0] + 10 * texel[1]


@pytest.mark.parametrize(
    ("x", "y", "fields", "texel"),
    [
        ("0.5", "0.5", {}, (4, 2)),
        ("#3effffff", "#3effffff", {}, (3, 1)),
        ("1.0", "#3f7fffff", {}, (7, 3)),
        ("0.5", "0.5", {"offset_x": 31, "offset_y": 31}, (3, 1)),  # 3.5, 1.5
        ("0.5", "0.5", {"offset_x": 30, "offset_y": 2}, (3, 3)),
        ("0.5", "1.0", {"coord_type_y": 0}, (4, 1)),
        ("#40000000", "0.5", {"coord_type_x": 0}, (2, 2)),
        ("-0.5", "0.5", {}, (0, 2)),
        ("#7f800000", "-#7f800000", {}, (7, 0)),
        ("#3d7fffff", "0", {"offset_x": 1}, (0, 0)),  # 0.4999999 elements and a half
        ("#3d800000", "0", {"offset_x": 1}, (1, 0)),
    ],
)
def test_coordinates_from_0_to_1(x: str, y: str, fields: dict[str, int], texel: tuple[int, int]) -> None:
    assert looked_up(x, y, **{**_NORMALISED, **fields}) == texel[0] + 10 * texel[1]


@pytest.mark.parametrize(
    "name", ["SAMPLE", "SAMPLE_L", "SAMPLE_LB", "SAMPLE_LZ", "SAMPLE_G", "SAMPLE_G_L", "SAMPLE_G_LB", "SAMPLE_G_LZ"]
)
def test_all_samples_are_the_same(name: str) -> None:
    ignored = {"lod_bias": 0x55, "sampler_id": 17, "fetch_whole_quad": 1, "coord_type_z": 1, "offset_z": 9}
    assert looked_up("#40200000", "1.0", name, **ignored) == 12


@pytest.mark.parametrize(
    ("x", "y", "fields", "texel"),
    [
        ("#00000003", "#00000002", {}, (3, 2)),
        ("-1i", "1i", {}, (0, 1)),
        ("#7fffffff", "#80000000", {}, (7, 0)),
        ("#00000003", "1i", {"offset_x": 1, "offset_y": 31}, (3, 0)),  # 3.5, 0.5
        ("#00000003", "1i", {"offset_x": 29, "offset_y": 3}, (1, 2)),  # 1.5, 2.5
        ("-1i", "0", {"offset_x": 3}, (0, 0)),
        ("-1i", "0", {"offset_x": 5}, (1, 0)),
        ("0", "0", {"src_sel_x": 5, "coord_type_x": 1}, (7, 0)),  # the bits of 1.0
    ],
)
def test_loads_count_in_integers(x: str, y: str, fields: dict[str, int], texel: tuple[int, int]) -> None:
    assert looked_up(x, y, "LD", **fields) == texel[0] + 10 * texel[1]


@pytest.mark.parametrize(("select", "column"), [(0, 2), (1, 3), (2, 5), (3, 6), (4, 0), (5, 1), (6, 0), (7, 0)])
def test_source_selects(select: int, column: int) -> None:
    a = Assembly()
    a.alu(moves(2, "#40000000", "#40400000", "#40a00000", "#40c00000"))
    a.fetch(tex("SAMPLE", 1, 2, src_sel_x=select, src_sel_y=5))
    found = execute(a, domain=(0, 0, 0, 0), inputs={0: COORDINATES_INPUT}).outputs[0, 0, 0]
    same(found, [column + 10.0, 0.0, 0.0, 1.0])


def test_destination_selects() -> None:
    a = Assembly()
    a.alu(moves(1, *[f"#{NAN:x}"] * 4), moves(3, *[f"#{NAN:x}"] * 4))
    a.fetch(
        tex("LD", 1, 0, src_sel_x=4, dst_sel_x=4, dst_sel_y=5, dst_sel_z=7, dst_sel_w=0),
        vtx(3, 4, dst_sel_x=7, dst_sel_y=3, dst_sel_z=5, dst_sel_w=4),
    )
    found = execute(a, (1, 3), domain=(0, 0, 0, 0), inputs={0: VECTORS}).outputs[:, 0, 0]
    same(found, [[0.0, 1.0, NAN, 0.0], [NAN, 0.75, 1.0, 0.0]])


def test_what_an_input_tells_of_itself() -> None:
    a = Assembly()
    a.fetch(tex("GET_TEXTURE_RESINFO", 1, 0, 5))
    odd = Input(values=np.zeros((3, 6, 1), np.float32))
    found = execute(a, domain=(0, 0, 0, 0), inputs={5: odd}).outputs[0, 0, 0]
    # Its rows are 8 elements apart.
    same(found, [8, 3, 1, 1])


def test_differences_are_those_of_one_pair_of_the_quad() -> None:
    """H: lane 3 less lane 2; V: lane 2 less lane 0; for all four. The value is 3 i + 5 j + 7 i j."""
    a = Assembly()
    a.alu(group(slot("MULADD", "R2.x", "R0.x", "#40400000", "0"), slot("MUL", "R2.y", "R0.x", "R0.y")))
    a.alu(group(slot("MULADD", "R2.x", "R0.y", "#40a00000", "R2.x")))
    a.alu(group(slot("MULADD", "R2.x", "R2.y", "#40e00000", "R2.x")))
    a.fetch(tex("GET_GRADIENTS_H", 1, 2), tex("GET_GRADIENTS_V", 3, 2))
    found = execute(a, (1, 3), domain=(2, 4, 5, 5), wavefront=8).outputs[:, 4:, 2:, 0]
    h = 3 + 7 * 5.0
    same(found[0], [[h] * 4] * 2)
    same(found[1], [[5 + 7 * 2.0] * 2 + [5 + 7 * 4.0] * 2] * 2)


def test_gradients_that_are_set_do_nothing() -> None:
    a = Assembly()
    a.alu(moves(1, "0.5", "1.0", "0.5", "1.0"))
    a.fetch(*(tex(name, 1, 0) for name in ("SET_GRADIENTS_H", "SET_GRADIENTS_V", "KEEP_GRADIENTS")))
    same(execute(a, domain=(0, 0, 0, 0)).outputs[0, 0, 0], [0.5, 1.0, 0.5, 1.0])


@pytest.mark.parametrize("name", ["TEX", "VTX"])
def test_a_fetch_sees_the_results_of_those_before(name: str) -> None:
    """Row 3 of the constants begins with 3.0, whose bits are an index far outside; 1 of integers is a row."""
    a = Assembly()
    a.alu(moves(2, "#00000005"))
    chain: list[list[Unit]] = [vtx(2, 2, dst_sel_x=0), vtx(3, 2, src_sel_x=0), vtx(1, 4, src_sel_x=1)]
    a.alu(moves(4, "0", "#00000009"))
    a.fetch(*chain, vtx(4, 4, src_sel_x=1, dst_sel_x=2), vtx(5, 4, src_sel_x=3, dst_sel_x=1), name=name)
    found = execute(a, (2, 3, 1, 5), domain=(0, 0, 0, 0), information={"gprs": 8}).outputs[:, 0, 0, 0]
    same(found, [5.0, 0.0, 9.0, 0.0])


def test_a_fetch_uses_a_coordinate_of_the_same_clause() -> None:
    a = Assembly()
    a.alu(moves(2, "#40800000", "1.0"))
    a.fetch(tex("SAMPLE", 2, 2, dst_sel_y=4, dst_sel_z=4, dst_sel_w=4), tex("SAMPLE", 1, 2))
    same(execute(a, domain=(0, 0, 0, 0), inputs={0: COORDINATES_INPUT}).outputs[0, 0, 0, 0], 7.0)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (13, (3.5, 0, 0, 1)), (14, (3.5, 0.0, 0.0, 1.0)), (29, (3.5, 3.75, 0, 1)), (30, (3.5, 3.75, 0.0, 1.0)),
        (47, (3.5, 3.75, 4.0, 1)), (48, (3.5, 3.75, 4.0, 1.0)),
        (34, (3.5, 3.75, 4.0, 4.25)), (35, (3.5, 3.75, 4.0, 4.25)),
    ],
)  # fmt: skip
def test_formats_of_vertex_fetches(number: int, expected: tuple) -> None:
    """Two words after row 3; NUM_FORMAT, sign and mode are ignored: bits pass."""
    for fields in ({}, {"num_format_all": 1, "format_comp_all": 1, "srf_mode_all": 1}, {"num_format_all": 2}):
        a = Assembly()
        a.alu(moves(2, "0", "#00000002"))
        a.fetch(vtx(1, 2, src_sel_x=1, data_format=number, offset=24, **fields), name="VTX")
        same(execute(a, domain=(0, 0, 0, 0)).outputs[0, 0, 0], list(expected))


@pytest.mark.parametrize(
    ("number", "index", "offset", "first"),
    [
        (35, 255, 0, 255.0), (35, 255, 4, None), (35, 254, 16, 255.0), (35, 0, 4080, 255.0), (35, 0, 4084, None),
        (35, 256, 0, None), (35, 0, 65532, None), (35, 0xFFFFFFFF, 16, None), (35, 0x10000000, 0, None),
        (14, 255, 12, 255.75), (14, 255, 16, None), (48, 255, 4, 255.25), (48, 255, 8, None), (30, 255, 8, 255.5),
        (30, 255, 12, None), (13, 0, 4092, 255.75), (13, 0, 4096, None),
    ],
)  # fmt: skip
def test_bounds_of_the_constants(number: int, index: int, offset: int, first: float | None) -> None:
    """An element that is not there as a whole is 0: its first component tells."""
    a = Assembly()
    a.alu(moves(2, f"#{index:x}"))
    a.fetch(vtx(1, 2, data_format=number, offset=offset))
    found = execute(a, domain=(0, 0, 0, 0)).outputs[0, 0, 0]
    same(found[0], 0 if first is None else first)
    if first is None:
        same(found[:3], [0, 0, 0])


@pytest.mark.parametrize(
    ("index", "expected"), [(0, 0.0), (7, 7.0), (8, 8.0), (15, 15.0), (16, 8.0), (23, 15.0), (0xFFFFFFFF, 15.0)]
)
def test_inputs_as_linear_arrays(index: int, expected: float) -> None:
    """After the last row the last row is read, as by coordinates."""
    for base, buffer in ((0, 3), (18, 21)):
        a = Assembly()
        a.alu(moves(2, "0", "0", f"#{index:x}"))
        a.fetch(vtx(1, 2, buffer, src_sel_x=2, data_format=13))
        found = execute(a, domain=(0, 0, 0, 0), inputs={3: VECTORS}, information={"texture_base": base})
        same(found.outputs[0, 0, 0], [expected, 0.5, 0.0 - index % 8, 7.0])


def test_buffer_0_is_the_constants() -> None:
    """Whatever number the first input has; and number 0 of a texture is that input."""
    a = Assembly()
    a.alu(moves(2, "#00000002"))
    a.fetch(vtx(1, 2, 0), tex("LD", 3, 2, 0))
    found = execute(a, (1, 3), domain=(0, 0, 0, 0), inputs={0: VECTORS}).outputs[:, 0, 0]
    same(found[:, 0], [2.0, 2.0])
    same(found[:, 3], [2.75, 7.0])


@pytest.mark.parametrize("start", [0, 1, 3])
def test_relative_registers_of_fetches(start: int) -> None:
    """SRC_REL and DST_REL add aL; T0 and registers after the last one cannot be reached."""
    a = Assembly()
    a.alu(moves(2, "0"), moves(3, "1i"), moves(5, "#00000002"), moves(126, "1i"), moves(124, "0.5"))
    at = a.flow("LOOP_START", to=8000, const=0)
    a.fetch(
        vtx(4, 2, src_rel=1, dst_rel=1, src_sel_x=0), tex("GET_TEXTURE_RESINFO", 7, 0, dst_rel=1, src_rel=1),
        vtx(14, 2, dst_rel=1), vtx(13, 126, src_rel=1, dst_sel_w=7), vtx(124, 2, dst_rel=1),
    )  # fmt: skip
    a.flow("LOOP_END", to=at + 1)
    a.alu(group(slot("MOV", "R13.w", "T0.x")))
    row = {0: 0.0, 1: 1.0, 3: 2.0}[start]
    found = execute(a, (4 + start, 7 + start, 14 + start if start < 2 else 1, 13), domain=(0, 0, 0, 0),
                    ints={0: (1, start, 0)}, inputs={0: COORDINATES_INPUT}).outputs[:, 0, 0]  # fmt: skip
    same(found[0], [row + n / 4 for n in range(4)])
    same(found[1], [8, 4, 1, 1])
    same(found[2], [n / 4 for n in range(4)] if start < 2 else [0, 0, 0, 0])
    same(found[3], [0.0, 0.25, 0.5, 0.5])


def test_only_executing_pixels_fetch() -> None:
    a = Assembly()
    a.alu(group(slot("PRED_SETGT", "_.x", "R0.x", "0", updates_mask=True)), name="ALU_PUSH_BEFORE")
    a.fetch(vtx(1, 4), fetch_whole_quad(vtx(2, 4)))
    a.flow("POP", pop=1)
    found = execute(a, (1, 2), domain=(0, 0, 1, 0)).outputs[:, 0]
    same(found[:, :, 3], [[0.0, 0.75], [0.0, 0.75]])


def fetch_whole_quad(units: list[Unit]) -> list[Unit]:
    """The instruction with FETCH_WHOLE_QUAD, which is ignored."""
    return [(units[0][0] | 1 << 7, units[0][1]), units[1]]


def test_four_neighbours_at_once() -> None:
    """An input in 2x2 mode gives (x + 1, y), (x, y + 1), (x + 1, y + 1), (x, y)."""
    a = Assembly()
    a.alu(moves(2, "#40000000", "1.0"), moves(3, "#0000000a"))
    a.fetch(tex("SAMPLE", 1, 2, 18), vtx(4, 3, 18))
    both = Input(values=COORDINATES_INPUT.values, tiling=Tiling.LINEAR_INP_2X2)
    found = execute(a, (1, 4), domain=(0, 0, 0, 0), inputs={0: both}, information={"texture_base": 18}).outputs
    same(found[:, 0, 0], [[13.0, 22.0, 23.0, 12.0]] * 2)


def element_of(word: int, extent: int, limit: int, normalised: bool, offset: int) -> int:
    """The column or row that a coordinate's word names, in exact numbers but for one rounded product."""
    number = np.uint32(word).view(np.float32)
    if np.isnan(number):
        return min(max(offset >> 1, 0), limit - 1)
    if normalised:
        with np.errstate(over="ignore"):
            number = flushed(np.float32(flushed(number) * np.float32(extent)))
    number = flushed(number)
    if np.isinf(number):
        return limit - 1 if number > 0 else 0
    found = math.floor(Fraction(float(number)) + Fraction(offset, 2))
    return min(max(found, 0), limit - 1)


def flushed(number: np.float32) -> np.float32:
    """Zero for a denormal."""
    return np.float32(0) if abs(number) < np.finfo(np.float32).tiny else number


@pytest.mark.parametrize("seed", range(8))
def test_random_coordinates(seed: int) -> None:
    """Near the elements' borders, at whole halves, and anywhere."""
    generator = np.random.default_rng(seed)
    size, width, height = 24, 16, 7
    near = np.round(generator.uniform(-4, 24, (size, size, 2)) * 2) / 2
    normalised = generator.integers(2, size=2)
    coordinates = (near / np.where(normalised, (width, height), 1)).astype(np.float32).view(np.uint32)
    coordinates += generator.integers(-2, 3, coordinates.shape).astype(np.uint32)
    anything = random_floats(generator, coordinates.shape)
    coordinates = np.where(generator.random(coordinates.shape) < 0.2, anything, coordinates).astype(np.uint32)
    offsets = [int(offset) for offset in generator.integers(-16, 16, 2)]
    a = Assembly()
    a.fetch(tex("LD", 2, 0, 1))
    fields = {"coord_type_x": int(normalised[0]), "coord_type_y": int(normalised[1])}
    a.fetch(tex("SAMPLE", 1, 2, 0, offset_x=offsets[0] % 32, offset_y=offsets[1] % 32, **fields))
    coordinates_of = np.arange(width)[None, :, None] + 100 * np.arange(height)[:, None, None]
    inputs = {0: Input(values=coordinates_of.astype(np.float32)), 1: Input(values=coordinates)}
    information = {"type": ProgramType.CS}
    found = execute(a, domain=(0, 0, size - 1, size - 1), inputs=inputs, wavefront=64, information=information)
    for j, i in np.ndindex(size, size):
        x, y = (
            element_of(int(coordinates[j, i, axis]), extent, extent, bool(normalised[axis]), offsets[axis])
            for axis, extent in enumerate((width, height))
        )
        same(found.outputs[0, j, i, 0], float(x + 100 * y))
