"""Each cell that `why` names is found by that name, and `print` prints its word."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.debug.console import Console
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import Cell
from ctm.sim.debug.slicing.explanation import Explanation
from ctm.sim.debug.slicing.named_cells import cell_named
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.tb.debug.jobs import DIVERGENT, example, program, race, session_of
from ctm.tb.draws.recorded import make_job


def cells_of(explanation: Explanation) -> set[Cell]:
    found = explanation.slice
    cells = {*found.targets, *found.constants, *found.elements, *found.start}
    for cause in found.causes:
        cells |= {*cause.made, *cause.read, *cause.decided}
    return cells


def _draw(folder: Path) -> LoadedJob:
    return load_job(make_job("gs_pass", "sfn", folder))


CASES: tuple[tuple[Callable[[Path], LoadedJob], Position, str, set[str]], ...] = (
    (lambda folder: program(DIVERGENT, folder), Position(0, 1, 0), "o0[3,1]", {"floats"}),
    (lambda _: example("mandelbrot/mandelbrot", 8, 4), Position(0, 0, 0), "o0[3,1]", {"ints", "frames", "predicates"}),
    (lambda _: example("transpose/transpose"), Position(0, 0, 0), "o0[3,1]", {"memory"}),
    (lambda _: example("r700/reduction/reduction"), Position(0, 0, 0), "o0[0,0]", {"memory"}),
    (lambda _: example("r700/compaction/compaction", 8, 4), Position(0, 0, 0), "o1[3,1]", {"memory"}),
    (race, Position(0, 0, 0), "o0[3,2]", {"memory", "valid_mask"}),
    (_draw, Position(0, 0, 5), "R1.x", {"memory"}),
    (_draw, Position(1, 0, 9), "R1.x", {"memory"}),
    (_draw, Position(3, 0, 0), "o0[25,12]", {"primitive"}),
)
"""A job, where to ask, for what, and arrays of which there must be cells."""


def _ordinary(cases: Sequence[Any]) -> list[Any]:
    """All, of which the reduction takes seconds."""
    return [
        pytest.param(*case, marks=[pytest.mark.long] * (number == 3), id=str(number))
        for number, case in enumerate(cases)
    ]


def wavefront_of(session: Session, explanation: Explanation) -> int:
    """The wavefront that an explanation is for: what primitives' constants are called depends on it."""
    match = re.fullmatch(r"o\d+\[(\d+),(\d+)\].*", explanation.text)
    found = None if match is None else session.started.holds(int(match[1]), int(match[2]))
    return session.position.wavefront if found is None else found


def explained(session: Session, position: Position, text: str) -> Explanation:
    session.go_to(position)
    return why(session, text, follows=False)


@pytest.mark.parametrize(("make", "position", "text", "arrays"), _ordinary(CASES))
def test_every_name_is_that_of_its_cell(
    make: Callable[[Path], LoadedJob], position: Position, text: str, arrays: set[str], tmp_path: Path
) -> None:
    with session_of(make(tmp_path)) as session:
        explanation = explained(session, position, text)
        cells = cells_of(explanation)
        assert arrays <= {each.array for each in cells}
        session.go_to(session.position._replace(wavefront=wavefront_of(session, explanation)))
        session.lane = explanation.names.lane
        said: list[str] = []
        console = Console(session, said.append)
        for each in sorted(cells):
            # Masks on the stack come and go.
            if each.array == "frames":
                continue
            name = explanation.names.name(each)
            found = cell_named(session, name)
            assert found is not None and found[1] == each, name
            console.onecmd(f"print {name}")
            assert console.error is None and said[-1].startswith(f"{name} = "), said[-1]
        for constant, word in (explanation.slice.constants | explanation.slice.elements).items():
            name = explanation.names.name(constant)
            console.onecmd(f"print {name}")
            assert explanation.names.word(constant, word).split()[0] in said[-1].partition(" = ")[2]


def test_masks_of_the_stack_and_other_lanes_are_found(tmp_path: Path) -> None:
    with session_of(example("mandelbrot/mandelbrot", 8, 4)) as session:
        session.step(6)
        assert session.wavefront.batch.frames
        said: list[str] = []
        console = Console(session, said.append)
        for name in ("mask entered of stack entry 0", "r1.b of lane 2", "o0.r is written", "conditional of lane 1"):
            console.onecmd(f"print {name}")
        assert said[0] == "mask entered of stack entry 0 = 1" and said[1].startswith("r1.b of lane 2 = ")
        assert said[2] == "o0.r is written = 0" and console.error is None
        console.onecmd("print r1.b of lane 4")
        assert console.error is not None and "no expression" in console.error
