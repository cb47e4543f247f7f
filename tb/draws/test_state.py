"""What the commands of draws set, word by word."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.draws import ALL_BY_NAME, IndexFormat, PrimitiveType, Ring
from ctm.sim.golden.draw.state import DrawState, Raster, Stream, VertexBuffer

ONES = 0xFFFF_FFFF
FLAGS = (
    "provoking_last", "front_clockwise", "cull_front", "cull_back", "clip_zero", "no_near", "no_far", "discard",
    "program_point_size", "add",
)  # fmt: skip
"""The flags of set_raster, from bit 5 on."""


def after(*commands: tuple[Any, ...]) -> DrawState:
    """The state after commands: name and words of each."""
    state = DrawState()
    for name, *words in commands:
        state.apply(ALL_BY_NAME[name], words)
    return state


def bits(*values: float) -> list[int]:
    return np.array(values, np.float32).view(np.uint32).tolist()


def test_the_reset_state_has_nothing() -> None:
    state = DrawState()
    assert state.buffers == [VertexBuffer(0, 0, 0)] * 16 and state.streams == [Stream(0, 0, 0, 0)] * 4
    assert (state.index_address, state.index_format, state.restart) == (0, IndexFormat.NONE, None)
    assert state.rings == {Ring.ES_GS: 0, Ring.GS_VS: 0}
    raster = state.raster
    assert raster.primitive == raster.point_radius == 0 and raster.kind is None
    assert [getattr(raster, flag) for flag in FLAGS] == [False] * len(FLAGS)
    assert state.viewport.scale.tolist() == state.viewport.offset.tolist() == [0, 0, 0]
    assert state.viewport.scale.dtype == np.float32 and [*state.viewport.z_range] == [0, 0]


@pytest.mark.parametrize("number", range(16))
def test_a_vertex_buffer_is_set(number: int) -> None:
    # Bits of the number above the fourth and the lowest two of the address are none.
    state = after(("set_vtx_fmt", 0xFFFF_FFF0 | number, 0x1237, 5, 6))
    assert [at for at, buffer in enumerate(state.buffers) if buffer != VertexBuffer()] == [number]
    assert state.buffers[number] == VertexBuffer(address=0x1234, size=5, stride=6)
    assert after(("set_vtx_fmt", 0, ONES, ONES, ONES)).buffers[0] == VertexBuffer(0xFFFF_FFFC, ONES, ONES)


def test_indices_are_set() -> None:
    state = after(("set_idx_fmt", 0x1237, 1 << 31 | 0x1FFF_FFFF << 2 | 2, 77))
    assert (state.index_address, state.index_format, state.restart) == (0x1234, IndexFormat.UINT32, 77)
    state = after(("set_idx_fmt", ONES, 1, 77))
    assert (state.index_address, state.index_format, state.restart) == (0xFFFF_FFFC, IndexFormat.UINT16, None)


def test_rings_are_set() -> None:
    state = after(("set_ring_fmt", 0xFFFF_FFFE, 9, 5), ("set_ring_fmt", 1, 9, 6))
    assert state.rings == {Ring.ES_GS: 5, Ring.GS_VS: 6}


@pytest.mark.parametrize("number", range(4))
def test_a_stream_is_set_and_empty(number: int) -> None:
    state = DrawState()
    state.streams[number] = Stream(0, 0, 0, 99)
    state.apply(ALL_BY_NAME["set_strm_fmt"], [0xFFFF_FFFC | number, 0x12345678, 5, 6])
    # A base is a multiple of 2 KiB.
    assert state.streams[number] == Stream(base=0x12345000, dwords=5, stride=6, filled=0)
    assert [at for at, stream in enumerate(state.streams) if stream != Stream()] == [number]


def test_the_viewport_is_set() -> None:
    state = after(("set_vport", *bits(1.5, 2.5, 3.5, 4.5)), ("set_vport_z", *bits(5.5, 6.5, 7.5, 8.5)))
    assert state.viewport.scale.tolist() == [1.5, 3.5, 5.5] and state.viewport.offset.tolist() == [2.5, 4.5, 6.5]
    assert [*state.viewport.z_range] == [7.5, 8.5]
    again = after(("set_vport_z", *bits(5.5, 6.5, 7.5, 8.5)), ("set_vport", *bits(1.5, 2.5, 3.5, 4.5)))
    assert again.viewport.scale.tolist() == [1.5, 3.5, 5.5]
    assert [*again.viewport.z_range] == [7.5, 8.5]


@pytest.mark.parametrize("kind", list(PrimitiveType))
def test_the_primitive_is_set(kind: PrimitiveType) -> None:
    state = after(("set_raster", kind.value, 0))
    assert state.raster == Raster(primitive=kind.value) and state.raster.kind is kind


def test_numbers_of_no_primitive_are_none() -> None:
    numbers = {kind.value for kind in PrimitiveType}
    for number in set(range(32)) - numbers:
        assert after(("set_raster", number, 0)).raster.kind is None


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_set(flag: str) -> None:
    state = after(("set_raster", 1 << 5 + FLAGS.index(flag), 0))
    assert state.raster == Raster(**{flag: True})


def test_the_size_of_points_is_set() -> None:
    state = after(("set_raster", 0xFFFF_8000 | 31, 0xFFFF_1234))
    assert state.raster == Raster(primitive=31, point_radius=0x1234)


def test_a_copy_keeps_what_it_has() -> None:
    state = DrawState()
    copy = state.copy()
    for name, *words in (
        ("set_vtx_fmt", 0, 4, 5, 6), ("set_ring_fmt", 0, 0, 5), ("set_strm_fmt", 0, 0, 5, 6),
        ("set_vport", 1, 1, 1, 1), ("set_vport_z", 1, 1, 1, 1), ("set_raster", 4, 1), ("set_idx_fmt", 4, 1, 0),
    ):  # fmt: skip
        state.apply(ALL_BY_NAME[name], words)
    assert copy.buffers == DrawState().buffers and copy.streams == DrawState().streams
    assert copy.rings == DrawState().rings and copy.raster == Raster() and not copy.viewport.scale.any()
    assert copy.index_format is IndexFormat.NONE


def test_other_commands_set_nothing() -> None:
    state = after(("start_draw", 1, 2, 3, 4), ("read_strm", 1, 2))
    assert state.raster == Raster() and state.streams == DrawState().streams
