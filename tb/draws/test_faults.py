"""Draws that are not built, and memory that responds with an error: status, sentence and thread."""

from typing import Any

import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.runtime import Device
from ctm.sim.runtime.draws import PixelInput, VertexArray
from ctm.sim.runtime.draws.interpolation import PixelInputs
from ctm.sim.runtime.draws.linking import link
from ctm.tb.draws.geometry import linkable
from ctm.tb.draws.scene import PIXEL, VERTEX, Scene, drawn, same_on_both

WHOLE = [[-1, -1, 0, 1, 1, 1, 1, 1], [3, -1, 0, 1, 1, 1, 1, 1], [-1, 3, 0, 1, 1, 1, 1, 1]]
ENGINES = ("golden", "fast")


def error_of(scene: Scene, engine: str) -> MachineError:
    with pytest.raises(MachineError) as caught:
        drawn(scene, engine)
    return caught.value


@pytest.mark.parametrize("engine", ENGINES)
def test_a_depth_test_in_front_of_the_program_is_not_built(engine: str) -> None:
    scene = Scene(vertices=WHOLE, depth=ConditionalTest.LESS, location=ConditionalLocation.PE)
    error = error_of(scene, engine)
    assert error.status is Status.BAD_DRAW and "set_cond_loc DPP" in error.detail


@pytest.mark.parametrize("engine", ENGINES)
def test_only_floats_are_added(engine: str) -> None:
    scene = Scene(vertices=WHOLE, written_as=DataFormat.UINT8_4, draw={"add": True})
    error = error_of(scene, engine)
    assert error.status is Status.BAD_DRAW and error.detail.startswith("targets that add have a FLOAT32 format")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Makes memory respond with an error to the first dword of a vertex, see `vertex`; its address is added."""
    found = {"vertex": 1}
    usual = VertexArray.of

    def of(device: Device, values: Any) -> VertexArray:
        made = usual(device, values)
        found["address"] = made.address + 32 * found["vertex"]
        device.memory.respond_with_errors(found["address"], found["address"] + 4)
        return made

    monkeypatch.setattr(VertexArray, "of", staticmethod(of))
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("vertex", [0, 1, 2])
def test_a_vertex_with_an_error_response_is_a_bus_error_of_its_wavefront(
    failing: dict[str, int], engine: str, vertex: int
) -> None:
    failing["vertex"] = vertex
    error = error_of(Scene(vertices=WHOLE), engine)
    assert (error.status, error.client, error.address) == (Status.BUS_ERROR, BusClient.INPUT, failing["address"])
    # It names the first vertex of the wavefront.
    assert "VS, vertex 0 of instance 0" in str(error)


def test_a_failing_vertex_that_is_not_fetched_is_no_fault(failing: dict[str, int]) -> None:
    failing["vertex"] = 3
    assert same_on_both(Scene(vertices=[*WHOLE, WHOLE[0]], count=3)).covered.all()


def test_an_element_beyond_the_buffer_is_not_read(failing: dict[str, int]) -> None:
    # Elements that are not there do not fault with the first one, whose response is an error; nor do
    # lanes without a vertex.
    failing["vertex"] = 0
    for count in (3, 48):
        assert not same_on_both(Scene(vertices=WHOLE, count=count, draw={"base_vertex": 3})).covered.any()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("stage", ["vertex", "pixel"])
def test_a_fault_names_the_line_of_its_program(stage: str, engine: str) -> None:
    texts = {"vertex": VERTEX, "pixel": PIXEL}
    texts[stage] = texts[stage].replace("EXPORT_DONE P", ".unchecked\nLOOP_BREAK ADDR(0)\n.checked\nEXPORT_DONE P", 1)
    error = error_of(Scene(vertices=WHOLE, vertex=texts["vertex"], pixel=texts["pixel"]), engine)
    assert error.status is Status.STACK
    assert error.file == {"vertex": "VS program", "pixel": "PS program"}[stage]
    assert error.source == "LOOP_BREAK ADDR(0)"
    assert error.line == texts[stage].split("\n").index("LOOP_BREAK ADDR(0)") + 1


def test_texts_of_one_name_are_told_apart() -> None:
    pixel, vertex = linkable(PIXEL), linkable(VERTEX)
    lines = link(vertex=vertex, pixel=pixel, inputs=PixelInputs(inputs=[PixelInput(parameter=0)])).lines
    assert lines is not None
    assert lines.texts == {"<source>": VERTEX, "<source> 2": PIXEL}
    assert {line.file for line in lines.units if line} == {"<source>", "<source> 2"}
