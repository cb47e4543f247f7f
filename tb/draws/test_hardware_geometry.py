"""Geometry programs, streams and targets that add on the hardware: what each draw leaves is the golden model's."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PRESETS, MachineConfig
from ctm.rtl.isa.draws import Ring
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.rtl.isa.status import Status
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.draws.geometry import COPY, ITEM, POINT_TO_TRIANGLES, STREAMED, VERTEX_STREAM, point, scene
from ctm.tb.draws.scene import CLEAR, Drawn, Scene, commands_of, drawn
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import only, pairs


def outcome(made: Scene, engine: str, **changed: Any) -> Drawn | Status:
    """What a scene leaves, or the status with which it fails."""
    try:
        return drawn(made, engine, **changed)
    except MachineError as error:
        return error.status


def same(made: Scene, **changed: Any) -> Drawn:
    """What a scene leaves on the hardware, which has to be what it leaves on the golden model."""
    found, wanted = drawn(made, "rtl", **changed), drawn(made)
    assert found.target.tobytes() == wanted.target.tobytes()
    assert found.depth.tobytes() == wanted.depth.tobytes()
    assert [each.tobytes() for each in found.streams] == [each.tobytes() for each in wanted.streams]
    return wanted


def points(count: int, seed: int = 0) -> list[list[float]]:
    """Points that ask for 0 to 6 vertices each, somewhere in the view."""
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, 7, count)
    return [point(generator.uniform(-0.9, 0.6), generator.uniform(-0.9, 0.6), int(n)) for n in numbers]


@pytest.mark.parametrize("count", only((1, 16, 17, 64, 65, 200), (1, 17, 65)))
def test_threads_emit_as_many_vertices_as_they_want(count: int) -> None:
    # More primitives than one run of the geometry program has threads, more vertices than the vertex store holds.
    assert same(scene(points(count, count))).covered.any() or count == 1


@pytest.mark.slow
@pytest.mark.parametrize("items", only((16, 17, 40), (16, 17)))
def test_small_rings_hold_a_run_of_few_threads(items: int) -> None:
    rings = {Ring.ES_GS: ITEM * items, Ring.GS_VS: 6 * ITEM * items}
    made = scene(points(90, items))
    # Rings of their own, which precede the usual ones.
    assert same(replace(made, rings={ring: size for ring, size in rings.items()})).covered.any()


@pytest.mark.parametrize(("ring", "dwords"), [(Ring.ES_GS, 127), (Ring.GS_VS, 767)])
def test_a_ring_that_is_smaller_than_a_wavefront_is_an_error(ring: Ring, dwords: int) -> None:
    made = scene([point(0.0, 0.0, 3)], rings={ring: dwords})
    assert outcome(made, "rtl") is outcome(made, "golden") is Status.BAD_DRAW


@pytest.mark.parametrize("most", [1, 2, 5])
def test_vertices_beyond_the_most_are_lost(most: int) -> None:
    same(scene(points(40, most), program={"most": most}))


def test_strips_are_cut_where_they_are_cut() -> None:
    for old, new in (("CUT_VERTEX", "NOP"), ("EMIT_VERTEX", "EMIT_CUT_VERTEX")):
        text = POINT_TO_TRIANGLES.replace(old, new)
        same(scene(points(30), program={"program": text, "copy": STREAMED}, streams={0: (2000, 4)}))


@pytest.mark.parametrize("words", only((0, 11, 12, 300, 5000), (11, 300)))
def test_emitted_triangles_are_streamed_out_as_far_as_they_fit(words: int) -> None:
    streams = {0: (words, 4)} if words else {}
    found = same(scene(points(90), program={"copy": STREAMED}, streams=streams))
    if words > 100:
        assert (found.streams[0] != CLEAR).any()


KINDS = ("LINELIST", "LINESTRIP", "LINELOOP", "LINELIST_ADJ", "LINESTRIP_ADJ", "TRILIST_ADJ", "TRISTRIP_ADJ",
         "TRISTRIP", "TRIFAN")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", only(KINDS, ("LINELOOP", "TRILIST_ADJ", "TRISTRIP_ADJ")))
def test_every_kind_of_primitive_runs_the_geometry_program(kind: str) -> None:
    made = scene(points(47, 3), draw={"primitive": kind, "instances": 2, "provoking": "first"})
    same(made)
    indices = np.array([*range(20), 65535, *range(5, 18), 65535, 65535, 3, 2, 1], np.uint16)
    same(replace(made, indices=indices, restart=65535))


def test_emitted_points_are_drawn_and_emitted_lines_are_not() -> None:
    made = scene(points(20), program={"output": OutputPrimitive.POINTLIST}, draw={"point_size": 2.0})
    assert same(made).covered.any()
    lines = scene(points(20), program={"output": OutputPrimitive.LINESTRIP, "copy": STREAMED}, streams={0: (800, 4)})
    assert outcome(lines, "rtl") is outcome(lines, "golden") is Status.BAD_DRAW
    assert (same(replace(lines, draw=lines.draw | {"discard": True})).streams[0] != CLEAR).any()


@pytest.mark.parametrize("stage", ["program", "copy"])
def test_a_fault_in_front_of_pixels_ends_the_draw_and_the_next_one_is_right(stage: str) -> None:
    lines = {"program": "NOP END_OF_PROGRAM", "copy": "EXPORT_DONE POS60"}
    usual = {"program": POINT_TO_TRIANGLES, "copy": COPY}[stage]
    broken = usual.replace(lines[stage], f".unchecked\nLOOP_BREAK ADDR(0)\n.checked\n{lines[stage]}")
    made = scene(points(90), program={stage: broken})
    assert outcome(made, "rtl") is outcome(made, "golden") is Status.STACK
    same(scene(points(90)))


def overdrawn(seed: int, form: DataFormat = DataFormat.FLOAT32_4) -> Scene:
    """Triangles over each other, whose colours are added."""
    generator = np.random.default_rng(seed)
    corners = generator.uniform(-1.2, 1.2, (3 * 20, 2))
    colours = np.repeat(generator.uniform(-1e3, 1e3, (20, 4)), 3, axis=0)
    ones = np.ones(len(corners))
    vertices = np.column_stack([corners, 0 * ones, ones, colours]).astype(np.float32)
    return Scene(vertices=vertices, width=22, height=13, draw={"add": True}, written_as=form)


@pytest.mark.parametrize(("latency", "seed"), pairs((1, 20, 200), range(3)))
def test_sums_are_made_in_the_order_of_primitives(seed: int, latency: int) -> None:
    same(overdrawn(seed), latency=latency)


def test_what_was_drawn_before_is_added_to_though_the_output_cache_has_it() -> None:
    found = []
    for engine, config in (("golden", PRESETS["r700"]), ("rtl", machine("draws"))):
        device, commands = Device(engine, config), CommandBuffer()
        for seed, add in enumerate((False, True, False, True)):
            made = replace(overdrawn(seed), draw={"add": add})
            layout = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4)
            if not seed:
                target = device.image(layout, np.full((made.height, made.width, 4), CLEAR))
            flushes = len(CommandBuffer().flush_out_cache().flush_cond_out_cache().wait_for_idle().words)
            commands.words += commands_of(made, device, target.base, 0, layout, []).words[:-flushes]
        device.run(commands.flush_out_cache().wait_for_idle())
        found.append(target.read().tobytes())
    assert found[0] == found[1]


def streamed(engine: str, config: MachineConfig) -> list[int]:
    """What read_strm says of two streams after each of three draws, and what the streams hold."""
    device, commands = Device(engine, config), CommandBuffer()
    layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_4)
    target, said = device.image(layout, np.full((8, 8, 4), CLEAR)), device.place(bytes(64))
    ranges: list[tuple[int, int]] = []
    for number, (vertices, streams) in enumerate(((9, {0: (40, 4)}), (7, {}), (6, {1: (64, 4)}))):
        made = Scene(vertices=points(vertices), vertex=VERTEX_STREAM, streams=streams, width=8, height=8)
        commands.words += commands_of(made, device, target.base, 0, layout, ranges).words
        commands.read_strm(0, said + 8 * number).read_strm(1, said + 8 * number + 4)
    device.run(commands)
    kept = [word for base, words in ranges for word in device.memory.words(base, words).tolist()]
    return [*device.memory.words(said, 16).tolist(), *kept]


def test_draws_continue_after_a_full_stream_and_read_strm_says_how_far() -> None:
    wanted = streamed("golden", PRESETS["r700"])
    # Of 40 dwords three triangles fill 36; nothing more fits into both streams of the last draw.
    assert wanted[:6] == [36, 0, 36, 0, 36, 0] and streamed("rtl", machine("draws")) == wanted


@pytest.mark.parametrize("cycles", only((900, 2500, 4000, 6000), (2500,)))
def test_a_reset_in_the_middle_of_a_draw_leaves_nothing(cycles: int) -> None:
    made = scene(points(60), program={"copy": STREAMED}, streams={0: (900, 4)}, draw={"add": True})
    layout = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4)
    device: Any = Device("rtl", machine("draws"), max_cycles=cycles)
    target = device.image(layout, np.full((made.height, made.width, 4), CLEAR))
    with pytest.raises(CycleLimitError):
        device.run(commands_of(made, device, target.base, 0, layout, []))
    device._engine._max_cycles = None
    target.write(np.full((made.height, made.width, 4), CLEAR))
    placed: list[tuple[int, int]] = []
    device.run(commands_of(made, device, target.base, 0, layout, placed))
    wanted = drawn(made)
    assert target.read().tobytes() == wanted.target.tobytes()
    base, words = placed[0]
    assert device.memory.words(base, words).tobytes() == wanted.streams[0].tobytes()
