"""From indices to streams, with stages that run no program: what is shaded, and what is written where."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.draws import IndexFormat, PrimitiveType
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.draw.drawer import Drawer
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emission, Emitted, Shaded
from ctm.sim.golden.draw.state import DrawState, Raster, Start, Stream, Viewport
from ctm.sim.golden.draw.vertices import Assembly, assemble
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.memory import Memory

F = np.float32
BASE = 0x800


def state_of(kind: str, **fields: Any) -> DrawState:
    raster = Raster(primitive=PrimitiveType[kind].value, **{"provoking_last": True} | fields.pop("raster", {}))
    viewport = Viewport(scale=np.ones(3, F) * 8, offset=np.ones(3, F) * 8)
    return DrawState(raster=raster, viewport=viewport, **fields)


def start(count: int = 3, instances: int = 1, base: int = 0) -> Start:
    return Start(count=count, instances=instances, base_vertex=base, first_instance=0)


def indexed(values: list[int], element: type = np.uint16, address: int = BASE, **fields: Any) -> tuple[Memory, Any]:
    """Memory with indices, and the fields of a state that reads them."""
    memory = Memory()
    memory.write(address, np.array(values, element).tobytes())
    kind = IndexFormat.UINT16 if element is np.uint16 else IndexFormat.UINT32
    return memory, {"index_address": address, "index_format": kind} | fields


def lists(assembly: Assembly) -> dict[str, list[Any]]:
    return {name: getattr(assembly, name).tolist() for name in Assembly.__dataclass_fields__}


def test_vertices_without_indices_count_from_the_base() -> None:
    found = assemble(Memory(), state_of("TRISTRIP"), start(4, base=7), by_primitive=False)
    assert lists(found) == {
        "index": [7, 8, 9, 10], "instance": [0] * 4, "primitive": [0] * 4, "corners": [[0, 1, 2], [2, 1, 3]],
        "provoking": [2, 3], "number": [0, 1], "first": [0, 0],
    }  # fmt: skip


def test_equal_indices_are_one_vertex_and_those_of_no_primitive_are_none() -> None:
    # 1 and 3 are used by no whole triangle.
    memory, fields = indexed([9, 4, 9, 6, 4, 5, 1, 3])
    found = assemble(memory, state_of("TRILIST", **fields), start(8), by_primitive=False)
    assert found.index.tolist() == [4, 5, 6, 9]
    assert found.corners.tolist() == [[3, 0, 3], [2, 0, 1]] and found.provoking.tolist() == [3, 1]


def test_instances_have_vertices_of_their_own() -> None:
    memory, fields = indexed([5, 4, 5, 4])
    found = assemble(memory, state_of("LINELIST", **fields), start(4, instances=3), by_primitive=False)
    assert lists(found) == {
        "index": [4, 5] * 3, "instance": [0, 0, 1, 1, 2, 2], "primitive": [0] * 6,
        "corners": [[1, 0], [1, 0], [3, 2], [3, 2], [5, 4], [5, 4]], "provoking": [0, 0, 2, 2, 4, 4],
        "number": [0, 1] * 3, "first": [0] * 6,
    }  # fmt: skip


def test_vertices_by_primitive_are_not_shared() -> None:
    memory, fields = indexed([5, 4, 6, 7])
    state = state_of("TRISTRIP", raster={"provoking_last": False}, **fields)
    found = assemble(memory, state, start(4, instances=2, base=1), by_primitive=True)
    assert lists(found) == {
        "index": [6, 5, 7, 5, 8, 7] * 2, "instance": [0] * 6 + [1] * 6, "primitive": [0, 0, 0, 1, 1, 1] * 2,
        "corners": [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], "provoking": [0, 3, 6, 9], "number": [0, 1] * 2,
        "first": [0] * 4,
    }  # fmt: skip
    last = assemble(memory, state_of("TRISTRIP", **fields), start(4), by_primitive=True)
    assert last.corners.tolist() == [[0, 1, 2], [3, 4, 5]] and last.provoking.tolist() == [2, 5]
    # Of equal indices each is a vertex of its own; the middle one of a fan is the first corner.
    fan, fields = indexed([8, 8, 8, 8])
    found = assemble(fan, state_of("TRIFAN", raster={"provoking_last": False}, **fields), start(4), by_primitive=True)
    assert found.index.tolist() == [8] * 6 and found.provoking.tolist() == [0, 3]


@pytest.mark.parametrize("by_primitive", [False, True])
def test_no_primitive_has_no_vertex(by_primitive: bool) -> None:
    found = assemble(Memory(), state_of("TRILIST"), start(2, instances=2), by_primitive=by_primitive)
    assert found.index.size == found.number.size == found.provoking.size == 0 and found.corners.shape == (0, 3)


def test_indices_restart_before_the_base_is_added_and_sums_wrap() -> None:
    memory, fields = indexed([0xFFFF_FFFF, 0, 1, 0, 2, 3, 4, 5], np.uint32, restart=0)
    found = assemble(memory, state_of("TRISTRIP", **fields), start(8, base=2), by_primitive=False)
    # Runs of one, of one, and of four.
    assert found.index.tolist() == [4, 5, 6, 7] and found.corners.tolist() == [[0, 1, 2], [2, 1, 3]]
    memory, fields = indexed([0xFFFF_FFFF, 0, 1], np.uint32)
    found = assemble(memory, state_of("TRILIST", **fields), start(base=1), by_primitive=False)
    assert found.index.tolist() == [0, 1, 2] and found.corners.tolist() == [[0, 1, 2]]
    without = assemble(memory, state_of("TRILIST", **fields), start(), by_primitive=False)
    assert without.index.tolist() == [0, 1, 0xFFFF_FFFF] and without.corners.tolist() == [[2, 0, 1]]


def test_numbers_go_on_over_a_restart() -> None:
    memory, fields = indexed([0, 1, 2, 9, 3, 4, 5], restart=9)
    found = assemble(memory, state_of("TRISTRIP", **fields), start(7, instances=2), by_primitive=False)
    assert found.corners.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert found.number.tolist() == [0, 1, 0, 1]


def test_indices_with_an_error_response_or_beyond_memory_are_a_bus_error() -> None:
    memory, fields = indexed([0, 1, 2])
    state = state_of("TRILIST", **fields)
    memory.respond_with_errors(BASE + 6, BASE + 8)
    assert assemble(memory, state, start(), by_primitive=False).index.tolist() == [0, 1, 2]
    with pytest.raises(MachineError) as caught:
        assemble(memory, state, start(4), by_primitive=False)
    assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.COMMAND)
    assert caught.value.address == BASE
    # The last three of the space are there, a fourth is not.
    memory, fields = indexed([0, 1], np.uint16, (1 << 32) - 4)
    assert assemble(memory, state_of("LINELIST", **fields), start(2), by_primitive=False).index.tolist() == [0, 1]
    with pytest.raises(MachineError):
        assemble(memory, state_of("LINELIST", **fields), start(3), by_primitive=False)


def test_kinds_that_are_not_assembled_are_named() -> None:
    for number, text in ((19, "19 (QUADLIST)"), (0, "0"), (31, "31")):
        with pytest.raises(MachineError) as caught:
            assemble(Memory(), DrawState(raster=Raster(primitive=number)), start(), by_primitive=False)
        assert caught.value.status is Status.BAD_DRAW
        assert caught.value.detail == f"primitive type {text} is not assembled"


@dataclass
class Stages:
    """Stages that run nothing: vertex n has the words of row n, and position n of a list."""

    words: np.ndarray
    """Words of each stream, [streams, vertices, stride]."""
    written: np.ndarray
    position: np.ndarray
    beside: np.ndarray
    emitted: Emitted | None = None
    output: PrimitiveType = PrimitiveType.TRISTRIP
    by_primitive: bool = False
    clip_distances: int = 0
    cull_distances: int = 0
    calls: list[Any] = field(default_factory=list)
    runs: int = 0
    """How often vertices were shaded."""

    @property
    def has_geometry(self) -> bool:
        return self.emitted is not None

    def vertices(self, assembly: Assembly) -> Shaded:
        self.runs += 1
        return self._shaded(assembly.index)

    def geometry(self, assembly: Assembly) -> Emitted:
        assert self.emitted is not None
        self.runs += 1
        return self.emitted

    def batched(self, assembly: Assembly) -> Assembly:
        return assembly

    def emission_batched(self, emission: Emission) -> Emission:
        return emission

    def copies(self, emission: Emission) -> Shaded:
        self.calls.append((emission.thread.tolist(), emission.number.tolist()))
        return self._shaded(np.arange(emission.thread.size))

    def _shaded(self, rows: np.ndarray) -> Shaded:
        streams = tuple((words[rows], written[rows]) for words, written in zip(self.words, self.written, strict=True))
        return Shaded(
            position=self.position[rows], beside=self.beside[:, rows], streams=streams,
            parameters=np.zeros((rows.size, 1, 4), F),
        )  # fmt: skip

    def pixels(self, shaded: Shaded, shapes: Shapes, domain: Domain) -> None:
        self.calls.append(shapes)


def stages_of(count: int, strides: tuple[int, ...] = (), **fields: Any) -> Stages:
    """Stages whose vertex n writes 100 s + 10 n + c to dword c of stream s."""
    most = max(strides, default=1)
    words = np.zeros((4, count, most), np.uint32)
    written = np.zeros(words.shape, bool)
    for stream, stride in enumerate(strides):
        words[stream] = 100 * stream + 10 * np.arange(count)[:, None] + np.arange(most)
        written[stream, :, :stride] = True
    position = np.array([(0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.25, 0, 1)] * count, F)[:count]
    return Stages(words, written, position, np.zeros((3, count, 4), F), **fields)


def drawn(stages: Stages, state: DrawState, begin: Start | None = None, memory: Memory | None = None) -> list[int]:
    """Draw; the words from BASE on."""
    memory = memory or Memory()
    Drawer(memory).draw(stages, state, begin or start(), Domain(i1=31, j1=31))  # type: ignore[arg-type]
    return memory.words(BASE, 40).tolist()


def streams(*streams: tuple[int, int, int]) -> list[Stream]:
    """Streams of these dwords, strides and filled dwords, 64 bytes from each other."""
    found = [Stream(BASE + 64 * number, *values) for number, values in enumerate(streams)]
    return [*found, *[Stream()] * (4 - len(found))]


def test_draws_go_on_after_what_is_filled() -> None:
    state, memory = state_of("TRILIST", streams=streams((16, 2, 0))), Memory()
    assert drawn(stages_of(3, (2,)), state, memory=memory)[:8] == [0, 1, 10, 11, 20, 21, 0, 0]
    assert state.streams[0] == Stream(BASE, 16, 2, 6)
    assert drawn(stages_of(3, (2,)), state, memory=memory)[:13] == [0, 1, 10, 11, 20, 21] * 2 + [0]
    assert state.streams[0].filled == 12
    # Of 16 dwords 4 are left: nothing more is written, and nothing filled.
    assert drawn(stages_of(3, (2,)), state, memory=memory)[:17] == [0, 1, 10, 11, 20, 21] * 2 + [0] * 5
    assert state.streams[0].filled == 12


@pytest.mark.parametrize(("dwords", "filled", "count"), [
    (12, 0, 2), (11, 0, 1), (6, 0, 1), (5, 0, 0), (15, 4, 1), (16, 4, 2), (15, 5, 1), (3, 5, 0), (0, 13, 0),
])  # fmt: skip
def test_whole_primitives_fit_or_none(dwords: int, filled: int, count: int) -> None:
    state = state_of("TRILIST", streams=streams((dwords, 2, filled)))
    found = drawn(stages_of(6, (2,)), state, start(6))
    words = [10 * vertex + dword for vertex in range(3 * count) for dword in range(2)]
    assert found == [0] * filled + words + [0] * (40 - filled - len(words))
    assert state.streams[0].filled == filled + 6 * count


def test_streams_that_nothing_is_written_to_do_not_count() -> None:
    state = state_of("POINTLIST", streams=streams((8, 2, 0), (3, 3, 0), (0, 0, 0)))
    found = drawn(stages_of(3, (2, 3)), state)
    # One vertex fits into stream 1, and none into stream 2.
    assert found[:8] == [0, 1, 0, 0, 0, 0, 0, 0] and found[16:20] == [100, 101, 102, 0]
    assert [stream.filled for stream in state.streams] == [2, 3, 0, 0]


def test_dwords_that_a_vertex_does_not_write_stay() -> None:
    memory = Memory()
    memory.write(BASE, np.full(8, 7, np.uint32).tobytes())
    stages = stages_of(3, (2,))
    stages.written[0, 1, 0] = stages.written[0, 2, 1] = False
    state = state_of("POINTLIST", streams=streams((8, 2, 0)))
    assert drawn(stages, state, memory=memory)[:8] == [0, 1, 7, 11, 20, 7, 7, 7]
    assert state.streams[0].filled == 6


def test_streams_wrap_at_the_end_of_the_space_and_ranges_with_errors_are_lost() -> None:
    memory = Memory()
    stream = Stream((1 << 32) - 0x800, 1024, 2, 510)
    state = state_of("POINTLIST", streams=[stream, *[Stream()] * 3])
    memory.respond_with_errors(4, 8)
    drawn(stages_of(3, (2,)), state, memory=memory)
    assert memory.words((1 << 32) - 8, 6).tolist() == [0, 1, 10, 0, 20, 21]
    assert memory.lost == (BusClient.OUTPUT, 4)


def test_what_geometry_programs_emit_becomes_strips() -> None:
    cut = np.zeros((4, 6), bool)
    # Threads of 4, 0, 5 and 3 vertices; in front of number 3 of the third a strip ends. Number 0 begins one anyway.
    cut[2, 3] = True
    emitted = Emitted(count=np.array([4, 0, 5, 3]), cut=cut)
    stages = stages_of(12, (1,), emitted=emitted)
    state = state_of("POINTLIST", streams=streams((99, 1, 0)))
    found = drawn(stages, state, start(4))
    assert stages.calls[0] == ([0] * 4 + [2] * 5 + [3] * 3, [0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2])
    order = [0, 1, 2, 2, 1, 3, 4, 5, 6, 9, 10, 11]
    assert found[:13] == [10 * number for number in order] + [0]
    # Their number is 0 for a pixel program.
    (shapes,) = stages.calls[1:]
    assert (shapes.record[:, 2, 2].view(np.uint32) == 0).all()


def test_a_geometry_program_that_emits_nothing_draws_nothing() -> None:
    stages = stages_of(0, emitted=Emitted(count=np.zeros(3, int), cut=np.zeros((3, 2), bool)))
    drawn(stages, state_of("POINTLIST"))
    assert stages.calls == [([], [])]


@pytest.mark.parametrize(("kind", "is_drawn"), [
    ("LINELIST", False), ("LINESTRIP", False), ("LINELOOP", False), ("LINELIST_ADJ", False), ("LINESTRIP_ADJ", False),
    ("POINTLIST", True), ("TRILIST", True), ("TRISTRIP", True), ("TRIFAN", True), ("TRILIST_ADJ", True),
    ("TRISTRIP_ADJ", True),
])  # fmt: skip
def test_lines_are_not_drawn_but_discarded_or_taken_by_a_geometry_program(kind: str, is_drawn: bool) -> None:
    stages = stages_of(6)
    if is_drawn:
        drawn(stages, state_of(kind), start(6))
        assert len(stages.calls) == 1
    else:
        # Even if there is none.
        for count in (1, 6):
            with pytest.raises(MachineError) as caught:
                drawn(stages, state_of(kind), start(count))
            assert caught.value.detail == f"{kind} is not drawn" and caught.value.status is Status.BAD_DRAW
    discarded = stages_of(6)
    drawn(discarded, state_of(kind, raster={"discard": True}), start(6))
    assert not discarded.calls
    emitted = Emitted(count=np.array([3]), cut=np.zeros((1, 3), bool))
    geometry = stages_of(6, emitted=emitted)
    drawn(geometry, state_of(kind), start(6))
    assert len(geometry.calls) == 2


def test_emitted_lines_are_not_drawn() -> None:
    stages = stages_of(
        3, emitted=Emitted(count=np.array([3]), cut=np.zeros((1, 3), bool)), output=PrimitiveType.LINESTRIP
    )
    with pytest.raises(MachineError, match="LINESTRIP is not drawn"):
        drawn(stages, state_of("POINTLIST"), start(1))


@pytest.mark.parametrize("begin", [start(0), start(3, instances=0)])
def test_a_draw_of_nothing_runs_no_program_and_its_kind_is_checked(begin: Start) -> None:
    stages = stages_of(3)
    drawn(stages, state_of("TRILIST"), begin)
    with pytest.raises(MachineError, match="primitive type 0 is not assembled"):
        drawn(stages, DrawState(), begin)
    assert not stages.calls and not stages.runs


def test_too_few_vertices_run_no_program() -> None:
    emitted = Emitted(count=np.array([3]), cut=np.zeros((1, 3), bool))
    for stages in (stages_of(3), stages_of(3, emitted=emitted)):
        drawn(stages, state_of("TRILIST"), start(2))
        assert not stages.calls and not stages.runs


def test_shapes_have_the_corners_that_are_drawn() -> None:
    stages = stages_of(6)
    stages.position = np.array([(x / 8, y / 8, 0, 1) for x, y in ((0, 0), (9, 9), (2, 0), (9, 9), (0, 4), (9, 9))], F)
    drawn(stages, state_of("TRILIST_ADJ"), start(6))
    (shapes,) = stages.calls
    assert shapes.corners.tolist() == [[0, 2, 4]] and shapes.provoking.tolist() == [4]


def test_points_have_the_size_of_the_state_or_of_the_program() -> None:
    for program, bounds in ((False, [7, 8]), (True, [6, 9])):
        stages = stages_of(1)
        stages.beside[0, :, 0], stages.beside[0, :, 1] = 4.0, 9.0
        # 8 sixteenths of a pixel are half a side of a pixel; at the corner of four pixels one of 2 takes two of each.
        raster = {"point_radius": 16, "program_point_size": program}
        drawn(stages, state_of("POINTLIST", raster=raster), start(1))
        (shapes,) = stages.calls
        assert shapes.bounds.tolist() == [bounds * 2]
        # The centre is at (8, 8), half a pixel before the centre of pixel (8, 8).
        assert shapes.record[0, 0, :2].tolist() == [7.5 * 256 - (512 if program else 256)] * 2


@pytest.mark.parametrize("plane", range(8))
def test_distances_are_those_of_two_vectors(plane: int) -> None:
    for name in ("clip_distances", "cull_distances"):
        for value, count in ((-1.0, 0), (1.0, 1)):
            stages = stages_of(3)
            setattr(stages, name, 1 << plane)
            stages.beside[1 + plane // 4, :, plane % 4] = value
            drawn(stages, state_of("TRILIST"))
            assert stages.calls[0].count == count
