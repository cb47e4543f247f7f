"""Draws on the hardware leave the bits of the golden model: recorded ones, random ones, and those with faults."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import OUTPUTS
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.drawing import draw_problem
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.sim.runtime.draws import IndexArray, VertexArray, Viewport
from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.recorded import COMPILERS, bits, cases, make_job, run
from ctm.tb.draws.scene import CLEAR, PIXEL, Drawn, Scene, commands_of, drawn
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import only, pairs, some

CONFIG = machine("draws")
LATENCIES = (1, 20, 200)
WHOLE = [[-1, -1, 0, 1, 1, 1, 1, 1], [3, -1, 0, 1, 1, 1, 1, 1], [-1, 3, 0, 1, 1, 1, 1, 1]]
VERTICES_ONLY = replace(
    CONFIG, array=replace(CONFIG.array, outputs=OUTPUTS), pipeline=DrawConfig(stages="vertex", vertices=64)
)
UNSUPPORTED = {
    "gs_pass": "geometry programs", "xfb_gs": "geometry programs", "xfb_tris": "streams", "xfb_points": "streams",
    "mrt8": f"more than {OUTPUTS} targets",
}  # fmt: skip


@pytest.mark.parametrize("case", some(cases(COMPILERS[:1]), 3))
def test_a_recorded_draw_is_the_golden_models(case: tuple[str, str], tmp_path: Path) -> None:
    job = make_job(*case, tmp_path)
    assert draw_problem(load_job(job), "rtl", CONFIG) == ""
    assert bits(run(job, "rtl", 16)) == bits(run(job, "golden", 16))


@pytest.mark.long
@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize(("name", "compiler"), cases(COMPILERS))
def test_every_compilers_programs_and_every_memory(name: str, compiler: str, latency: int, tmp_path: Path) -> None:
    job = make_job(name, compiler, tmp_path)
    assert bits(run(job, "rtl", 16, latency=latency)) == bits(run(job, "golden", 16))


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_the_hardware_does_not_do_is_named(name: str, tmp_path: Path) -> None:
    job = load_job(make_job(name, "sfn", tmp_path))
    assert draw_problem(job, "rtl", VERTICES_ONLY).startswith(f"the hardware does not draw with {UNSUPPORTED[name]}")
    assert draw_problem(job, "rtl", CONFIG) == ""
    assert "--preset r700-draw" in draw_problem(job, "rtl", PRESETS["r700"])
    assert draw_problem(job, "golden", PRESETS["r700"]) == ""


def outcome(scene_: Scene, engine: str, latency: int = 50) -> Drawn | Status:
    """What a scene leaves, or the status with which it fails."""
    try:
        return drawn(scene_, engine, latency=latency)
    except MachineError as error:
        return error.status


def scenes(first: int) -> Iterator[tuple[int, Scene]]:
    """Random scenes by their seeds."""
    for seed in count(first):
        yield seed, scene(seed)


def compare(seed: int, made: Scene, latency: int) -> bool:
    """Compare a random scene with the golden model's; whether a pixel was drawn."""
    found, wanted = outcome(made, "rtl", latency), outcome(made, "golden")
    if isinstance(found, Status) or isinstance(wanted, Status):
        assert found == wanted, seed
        return False
    assert found.target.tobytes() == wanted.target.tobytes(), seed
    assert found.depth.tobytes() == wanted.depth.tobytes(), seed
    assert [each.tobytes() for each in found.streams] == [each.tobytes() for each in wanted.streams], seed
    return bool(wanted.covered.any())


@pytest.mark.parametrize("latency", only(LATENCIES, (20,)))
def test_random_draws_are_the_golden_models(latency: int) -> None:
    made = islice(scenes(100 * LATENCIES.index(latency)), 12)
    assert sum(compare(seed, each, latency) for seed, each in made) > 3


@pytest.mark.long
@pytest.mark.parametrize("batch", range(50))
def test_five_thousand_random_draws(batch: int) -> None:
    latency = LATENCIES[batch % len(LATENCIES)]
    made = islice(scenes(1000 + 1000 * batch), 100)
    assert sum(compare(seed, each, latency) for seed, each in made) > 20


def overdraw(seed: int) -> Scene:
    """Many triangles over each other, with a depth test."""
    generator = np.random.default_rng(seed)
    corners = generator.uniform(-1.2, 1.2, (3 * 24, 2))
    z = np.repeat(generator.choice([-0.5, -0.25, 0.0, 0.25, 0.5], 24), 3)
    colours = np.repeat(generator.uniform(0, 1, (24, 4)), 3, axis=0)
    vertices = np.column_stack([corners, z, np.ones(z.size), colours]).astype(np.float32)
    test = (ConditionalTest.LESS, ConditionalTest.LESS_EQUAL, None)[seed % 3]
    return Scene(vertices=vertices, width=20, height=12, depth=test)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 1000))])
def test_shapes_over_each_other_keep_their_order(seed: int) -> None:
    made = overdraw(seed)
    wanted = drawn(made)
    found = drawn(made, "rtl", latency=int(np.random.default_rng(seed).choice([1, 7, 20, 50, 200])))
    assert found.target.tobytes() == wanted.target.tobytes() and found.depth.tobytes() == wanted.depth.tobytes()


def mesh(columns: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and indices of a grid of triangles, whose neighbours cover different pixels of the same strips."""
    x, y = (each.ravel() for each in np.meshgrid(np.arange(columns + 1), np.arange(rows + 1)))
    z = (x * y % 5) / 5 - 0.4
    vertices = np.column_stack([2 * x / columns - 1, 2 * y / rows - 1, z, np.ones(x.size), x, y, z, z])
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).ravel()
    corners = first[:, None] + [0, 1, columns + 1, 1, columns + 2, columns + 1]
    return vertices.astype(np.float32), corners.ravel().astype(np.uint16)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "size"), pairs([DataFormat.FLOAT32_1, DataFormat.UINT16_1], [(5, 4), (9, 9)]))
def test_neighbours_in_the_same_strips_are_drawn_at_once(size: tuple[int, int], form: DataFormat) -> None:
    vertices, indices = mesh(*size)
    # Drawn twice, once in the reverse order, so that shapes over each other are among them.
    both = np.concatenate([indices, indices[::-1]])
    made = Scene(
        vertices=vertices, indices=both, width=27, height=17, depth=ConditionalTest.LESS_EQUAL, depth_format=form
    )  # fmt: skip
    found, wanted = drawn(made, "rtl"), drawn(made)
    assert found.target.tobytes() == wanted.target.tobytes() and found.depth.tobytes() == wanted.depth.tobytes()
    counters = found.device.report().counters
    alone = drawn(replace(made, indices=indices, depth=None), "rtl").device.report().counters
    assert counters["draw_wait_order"] > 0 and alone["draw_wait_order"] == 0


@pytest.mark.parametrize("cycles", only((700, 1500, 3000, 5000, 8000), (1500, 5000)))
def test_a_reset_in_the_middle_of_a_draw_leaves_nothing(cycles: int) -> None:
    made = overdraw(3)
    layout = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4)
    device: Any = Device("rtl", CONFIG, max_cycles=cycles)
    target = device.image(layout, np.full((made.height, made.width, 4), CLEAR))
    depth = device.image(replace(layout, format=DataFormat.FLOAT32_1), np.ones((made.height, made.width), np.float32))
    with pytest.raises(CycleLimitError):
        device.run(commands_of(made, device, target.base, depth.base, layout, []))
    device._engine._max_cycles = None
    target.write(np.full((made.height, made.width, 4), CLEAR))
    depth.write(np.ones((made.height, made.width, 1), np.float32))
    device.run(commands_of(made, device, target.base, depth.base, layout, []))
    wanted = drawn(made)
    assert target.read().tobytes() == wanted.target.tobytes()
    assert depth.read()[..., 0].tobytes() == wanted.depth.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("shape", only([("TRISTRIP", 150), ("TRISTRIP", 70), ("TRIFAN", 150)], [("TRISTRIP", 70)]))
def test_batches_split_strips_and_instances_without_effect(shape: tuple[str, int]) -> None:
    kind, count = shape
    x = np.linspace(-0.9, 0.9, count)
    y = np.where(np.arange(count) % 2, 0.8, -0.8)
    vertices = np.column_stack([x, y, 0 * x, 1 + 0 * x, x, y, x * y, y - x]).astype(np.float32)
    draw = {"primitive": kind, "provoking": "first", "instances": 3 if count > 100 else 2}
    made = Scene(vertices=vertices, draw=draw, width=64 if count > 100 else 32, height=12)
    assert drawn(made, "rtl").target.tobytes() == drawn(made).target.tobytes()


def test_a_fault_of_pixels_ends_the_draw_and_the_next_one_is_right() -> None:
    broken = Scene(vertices=WHOLE, pixel=PIXEL.replace("EXPORT_DONE", ".unchecked\nLOOP_BREAK ADDR(0)\nEXPORT_DONE"))
    whole = Scene(vertices=WHOLE)
    assert outcome(broken, "rtl") is outcome(broken, "golden") is Status.STACK
    assert drawn(whole, "rtl").target.tobytes() == drawn(whole).target.tobytes()


@pytest.mark.slow
def test_a_fault_of_some_pixels_leaves_those_of_all_other_wavefronts() -> None:
    x = np.linspace(-0.9, 0.9, 150)
    y = np.where(np.arange(150) % 2, 0.8, -0.8)
    vertices = np.column_stack([x, y, 0 * x, 1 + 0 * x, x, y, x * y, y - x]).astype(np.float32)
    broken = PIXEL.replace(
        "EXPORT_DONE", "IF PRED_SETGT R0.z, 0.55\n.unchecked\nLOOP_BREAK ADDR(0)\n.checked\nENDIF\nEXPORT_DONE"
    )
    made = Scene(vertices=vertices, pixel=broken, draw={"primitive": "TRISTRIP"}, width=40, height=24)
    layout, found = Layout(width=made.width, height=made.height, format=DataFormat.FLOAT32_4), []
    for engine, config in (("golden", PRESETS["r700"]), ("rtl", CONFIG)):
        device: Any = Device(engine, config, watchdog=1 << 20)
        target = device.image(layout, np.full((made.height, made.width, 4), CLEAR))
        with pytest.raises(MachineError) as caught:
            device.run(commands_of(made, device, target.base, 0, layout, []))
        assert caught.value.status is Status.STACK
        device.run(CommandBuffer().flush_out_cache().wait_for_idle())
        found.append(target.read())
    assert found[0].tobytes() == found[1].tobytes() and 0.5 < (found[0] != CLEAR).any(axis=-1).mean() < 0.9


def test_a_vertex_with_an_error_response_is_a_bus_error_and_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = VertexArray.of
    devices: list[Device] = []

    def of(device: Device, values: Any) -> VertexArray:
        made = usual(device, values)
        device.memory.respond_with_errors(made.address + 32, made.address + 36)
        devices.append(device)
        return made

    monkeypatch.setattr(VertexArray, "of", staticmethod(of))
    for engine in ("golden", "rtl"):
        with pytest.raises(MachineError) as caught:
            drawn(Scene(vertices=WHOLE), engine)
        assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.INPUT)
    assert len(devices) == 2


def test_a_test_in_front_of_the_program_is_unsupported() -> None:
    made = Scene(vertices=WHOLE, depth=ConditionalTest.LESS, location=ConditionalLocation.PE)
    assert outcome(made, "rtl") is outcome(made, "golden") is Status.BAD_DRAW


def test_lines_and_a_viewport_without_size_are_unsupported() -> None:
    flat = Viewport(x=(0.0, 8.0), y=(8.0, 8.0))
    for draw in ({"primitive": "LINELIST"}, {"viewport": flat}):
        made = Scene(vertices=WHOLE, draw=draw)
        assert outcome(made, "rtl") is outcome(made, "golden") is Status.BAD_DRAW


def test_a_draw_of_nothing_leaves_nothing() -> None:
    for changed in ({"count": 0}, {"draw": {"instances": 0}}):
        made = Scene(vertices=WHOLE, **changed)
        assert not drawn(made, "rtl").covered.any()


def test_indices_with_an_error_response_are_a_bus_error(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = IndexArray.of
    placed: list[int] = []

    def of(device: Device, values: Any, *, restart: int | None = None) -> IndexArray:
        made = usual(device, values, restart=restart)
        device.memory.respond_with_errors(made.address, made.address + 4)
        placed.append(made.address)
        return made

    monkeypatch.setattr(IndexArray, "of", staticmethod(of))
    for engine in ("golden", "rtl"):
        with pytest.raises(MachineError) as caught:
            drawn(Scene(vertices=WHOLE, indices=np.arange(3, dtype=np.uint16)), engine)
        error = caught.value
        assert (error.status, error.client, error.address) == (Status.BUS_ERROR, BusClient.COMMAND, placed[-1])
