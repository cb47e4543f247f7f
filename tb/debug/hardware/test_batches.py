"""Batches of a draw are those of the hardware's vertex grouper, and in them the golden model leaves the same."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import R700_DRAW
from ctm.rtl.isa.draws import IndexFormat, PrimitiveType, Ring
from ctm.rtl.vgt.batch_builder import REUSED
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.sim.debug.given_engine import Calls, Work
from ctm.sim.debug.hardware.batches import Batches, BatchLimits, wavefronts_of
from ctm.sim.debug.hardware.stages import BatchedStages
from ctm.sim.debug.launches import Launches, Started
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.draw.state import DrawState, Raster, Start
from ctm.sim.golden.draw.vertices import Assembly
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.jobs.execution import Run
from ctm.sim.jobs.loading import load_job
from ctm.sim.memory import Memory
from ctm.sim.runtime.device import Device
from ctm.tb.draws.geometry import ITEM, point, scene
from ctm.tb.draws.recorded import bits, cases, make_job, run
from ctm.tb.draws.scene import drawn, drawn_on
from ctm.tb.lib.seeds import seeds
from ctm.tb.vgt.grouping import INDICES, MEMORY_BYTES, VERTICES, Case, given, random_case

_ORDINARY = ("cube_indexed", "gs_instances", "xfb_tris")
"""Draws with several batches, with a geometry program, and with streams."""


@pytest.fixture(scope="module")
def grouper() -> VertexGrouper:
    return VertexGrouper(VERTICES, geometry=True)


def batches_of(case: Case, assembly: Assembly) -> Batches:
    limits = BatchLimits(vertices=VERTICES, most=case.most, reuses=case.fitting is None)
    corners = assembly.corners
    return Batches.of(corners, assembly.provoking, np.arange(assembly.index.size), np.zeros(len(corners), int), limits)


def described(case: Case) -> list[Any]:
    """Of each batch the vertices, and its primitives by their entries."""
    assembly = case.expected
    found = batches_of(case, assembly)
    owner = assembly.primitive if case.by_primitive else np.zeros_like(assembly.index)
    vertices = list(zip(assembly.index[found.vertices].tolist(), owner[found.vertices].tolist(), strict=True))
    ends = [*found.begins.tolist(), len(vertices)][1:]
    last = [*found.primitives.tolist(), len(found.corners)][1:]
    return [
        (vertices[begin:end], (found.corners[first:after] - begin).tolist())
        for begin, end, first, after in zip(found.begins.tolist(), ends, found.primitives.tolist(), last, strict=True)
    ]


def check(grouper: VertexGrouper, case: Case, seed: int = 0) -> None:
    """Compare batches with those of the hardware."""
    batches = [
        (batch.vertices, [list(corners[: case.corners]) for corners, *_ in batch.primitives])
        for batch in given(grouper, case, seed).batches
    ]
    # An instance without a primitive has a batch without a vertex.
    assert described(case) == [batch for batch in batches if batch[0]]


@pytest.mark.parametrize("seed", seeds(12, 600))
def test_batches_are_those_of_the_vertex_grouper(grouper: VertexGrouper, seed: int) -> None:
    check(grouper, random_case(seed, geometry=True), seed)


@pytest.mark.parametrize(
    ("kind", "indices", "fitting"),
    [
        (PrimitiveType.POINTLIST, np.tile(np.arange(REUSED), 3), None),
        (PrimitiveType.POINTLIST, np.tile(np.arange(REUSED + 1), 3), None),
        (PrimitiveType.POINTLIST, np.tile(np.arange(REUSED), 3), 5),
        (PrimitiveType.LINELIST, np.zeros(4 * VERTICES + 6, int), None),
        (PrimitiveType.TRILIST, np.arange(2 * VERTICES), None),
    ],
)
def test_batches_end_where_those_of_the_hardware_do(
    grouper: VertexGrouper, kind: PrimitiveType, indices: np.ndarray, fitting: int | None
) -> None:
    """Vertices that come again soon or too far apart, or in streams; many primitives of one vertex; many vertices."""
    memory = Memory(size=MEMORY_BYTES)
    memory.write(INDICES, indices.astype(np.uint16).tobytes())
    state = DrawState(
        index_address=INDICES, index_format=IndexFormat.UINT16, raster=Raster(primitive=kind.value, provoking_last=True)
    )
    check(grouper, Case(memory, state, Start(indices.size, 1, 0, 0), by_primitive=False, fitting=fitting))


def test_sections_are_not_in_one_batch_and_provoking_vertices_stay() -> None:
    corners = np.array([[0, 1, 2], [2, 1, 3], [0, 1, 2]])
    limits = BatchLimits(vertices=64, most=64, reuses=True)
    found = Batches.of(corners, corners[:, 2], np.arange(4), np.array([0, 0, 1]), limits)
    assert found.vertices.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert found.corners.tolist() == [[0, 1, 2], [2, 1, 3], [4, 5, 6]]
    assert found.provoking.tolist() == [2, 3, 6]
    assert (found.begins.tolist(), found.primitives.tolist(), found.first.tolist()) == ([0, 4], [0, 2], [0, 0, 4])


def test_wavefronts_are_of_one_batch() -> None:
    assert wavefronts_of(np.array([0, 6]), 9, 4).tolist() == [[0, 1, 2, 3], [4, 5, 9, 9], [6, 7, 8, 9]]
    assert wavefronts_of(np.zeros(0, int), 0, 4).shape == (0, 4)


def ended(work: Work) -> tuple[list[str | None], Run]:
    """The programs that run in batches, and what the work leaves."""
    launches, stages = Launches(work, R700_DRAW, 0, partial(BatchedStages, R700_DRAW)), []
    found = launches.next()
    while isinstance(found, Started):
        assert isinstance(found.launch, ThreadLaunch) == bool(found.batches.size)
        if found.batches.size:
            stages.append(found.launch.stage)
            threads = np.where(found.covered, found.i, found.i[:, :1])
            numbers = np.searchsorted(found.batches, threads, side="right")
            assert (numbers == numbers[:, :1]).all(), "a wavefront is of one batch"
        ran: ArrayRun[Any, Any] = ArrayRun(found.instruction_set, found.launch)
        found.execute(ran, 0, len(found.order))
        assert ran.fault is None
        found = launches.next()
    return stages, found


@pytest.mark.parametrize(
    "name",
    [name if name in _ORDINARY else pytest.param(name, marks=pytest.mark.long) for name, _ in cases(("sfn",))],
)
def test_a_draw_leaves_the_same_in_batches(name: str, tmp_path: Path) -> None:
    job = make_job(name, "sfn", tmp_path)
    stages, found = ended(load_job(job))
    assert stages in (["VS"], ["ES", "GS", "DC"])
    assert bits(found) == bits(run(job, "golden", R700_DRAW.array.wavefront_lanes))


def test_vertices_that_are_streamed_out_are_of_one_primitive_each(tmp_path: Path) -> None:
    work = load_job(make_job("xfb_tris", "sfn", tmp_path))
    launches = Launches(work, R700_DRAW, 0, partial(BatchedStages, R700_DRAW))
    found = launches.next()
    assert isinstance(found, Started) and isinstance(found.launch, ThreadLaunch)
    assert found.drawing is not None and found.drawing.assembly is not None
    assert found.drawing.assembly.corners.size == found.launch.threads
    launches.close()


@pytest.mark.parametrize("items", [16, 17, 40])
def test_small_rings_end_batches_and_runs(items: int) -> None:
    """Of 60 points, of which each has up to six vertices."""
    made = scene([point(n / 40 - 0.9, n / 40 - 0.9, n % 7) for n in range(60)])
    made = replace(made, rings={Ring.ES_GS: ITEM * (items + 3), Ring.GS_VS: 6 * ITEM * items})
    left = []

    def call(own: Device) -> None:
        left.append(drawn_on(made, own))

    stages, _ = ended(Calls(Device(config=R700_DRAW), call))
    expected = drawn(made)
    assert stages == ["ES", "GS", "DC"] and expected.covered.any()
    np.testing.assert_array_equal(left[0].target.view(np.uint32), expected.target.view(np.uint32))


def test_what_emits_nothing_has_no_batch() -> None:
    made = scene([point(0.0, 0.0, 0)])
    stages, _ = ended(Calls(Device(config=R700_DRAW), lambda own: drawn_on(made, own)))
    assert stages == ["ES", "GS"]
