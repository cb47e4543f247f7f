"""What the programs of a draw in front of one left for it: why that is what it is, program after program.

A pixel program takes parameters of vertices, and by its edge values and the primitive's record also positions; a copy
or geometry program takes dwords of its ring. Each of these was left by a thread of the program before it, whose
slice is made in its own wavefront.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.sim.debug.draws import Drawing
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.launches import Started
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import ITEMS, MEMORY, PRIMITIVE, RING, Cell
from ctm.sim.debug.slicing.explanation import Explanation
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.shapes import Needs, words_that_matter
from ctm.sim.debug.slicing.slicer import Slice, Slicer, Words
from ctm.sim.debug.undo import Kept
from ctm.sim.debug.wavefront import Wavefront
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.primitives import PROVOKING_BANK, RECORD_BANK
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.golden.r700.instruction import PARAMETER_TARGET

_EDGES = (1, 2, 0)
"""The edge values with which R0.x, R0.y and R0.z begin."""

Wanted = dict[int, Words]
"""Words that threads left, by thread, and the cells that hold them."""


def follow(session: Session, explanation: Explanation) -> Explanation:
    """An explanation for the session's wavefront, with those for what earlier programs of the draw left."""
    drawing, launch, batch = session.started.drawing, session.started.launch, session.wavefront.batch
    if drawing is None:
        return explanation

    def pixel_of(lane: int) -> tuple[int, int]:
        return int(batch.i[lane]), int(batch.j[lane])

    found: list[Explanation] = []
    newest = [explanation]
    if isinstance(launch, PixelLaunch):
        started: Started = drawing.programs["DC" if "DC" in drawing.programs else "VS"]
        wanted = _of_vertices(drawing, launch, session.wavefront.order, explanation.slice, pixel_of)
        newest = _sliced(session, drawing, started, _exports(started.launch, wanted))
        found += newest
        launch = started.launch
    while isinstance(launch, ThreadLaunch) and launch.ring is not None:
        writer = drawing.writer(launch)
        launch = writer.launch
        newest = _sliced(session, drawing, writer, _items(launch.written.shape[1], newest))
        found += newest
    return replace(explanation, before=tuple(found))


def _sliced(session: Session, drawing: Drawing, started: Started, wanted: Wanted) -> list[Explanation]:
    """The explanations of words that threads of a launch left."""
    kept = Kept.of_outputs(started.launch)
    try:
        return [
            _explanation(session, drawing, started, thread, words) for thread, words in sorted(wanted.items()) if words
        ]
    finally:
        kept.restore()


def _explanation(session: Session, drawing: Drawing, started: Started, thread: int, wanted: Words) -> Explanation:
    launch, index = started.launch, started.holds(thread, 0)
    assert index is not None
    arrays = started.i[index], started.j[index], started.covered[index]
    order, lane = int(started.order[index]), int(np.flatnonzero(arrays[0] == thread)[0])
    wavefront = Wavefront(started.instruction_set, launch, order, *arrays, session.cancellation)
    slicer = Slicer(started.instruction_set, launch, wavefront, session.cancellation)
    found = slicer.slice(cell if cell.array == MEMORY else cell._replace(lane=lane) for cell in wanted)
    text = f"{started.name}, {drawing.name(launch, order, thread, 0)}"
    if list(found.targets.values()) != [word for _, word in sorted(wanted.items())]:
        raise DebugError(f"{text} would leave something else now: what it reads was stored over since it ran")
    return Explanation(text, found, names_of(session, started, order, lane), session.code)


def names_of(session: Session, started: Started, order: int, lane: int) -> Names:
    """The names of a launch's cells for its wavefront with this `order` in the domain walk."""
    launch, drawing = started.launch, started.drawing
    if isinstance(launch, PixelLaunch):
        assert drawing is not None
        return Names(session.view, launch, lane, drawn=partial(drawing.bank, launch, order))
    if isinstance(launch, ThreadLaunch):
        assert drawing is not None
        ring = drawing.ring
        return Names(session.view, launch, lane, ringed=lambda dword, is_own: ring(launch, dword, written=is_own))
    return Names(session.view, launch, lane)


def _items(dwords: int, explanations: Iterable[Explanation]) -> Wanted:
    """What explanations took of a ring of items of so many dwords, by the thread that wrote it."""
    found: Wanted = {}
    for explanation in explanations:
        for cell, word in explanation.slice.elements.items():
            address, size, number = cell.index
            if number == RING:
                thread = address // WORD_BYTES // dwords
                found.setdefault(thread, {})[Cell(MEMORY, (address, size, ITEMS))] = word
    return found


def _exports(launch: Launch[Any], wanted: dict[tuple[int, int, int], int]) -> Wanted:
    """Words of vertices by vertex, target and channel, as what threads exported; what none exported is 0."""
    found: Wanted = {}
    for (vertex, target, channel), word in wanted.items():
        if target in launch.program.outputs:
            cell = Cell("outputs", (launch.program.outputs.index(target), channel), 0)
            found.setdefault(vertex, {})[cell] = word
    return found


def _of_vertices(
    drawing: Drawing, launch: PixelLaunch, order: int, found: Slice, pixels: Callable[[int], tuple[int, int]]
) -> dict[tuple[int, int, int], int]:
    """What a slice took of vertices: by vertex, target and channel the word."""
    shapes, shape = drawing.shapes, drawing.shape(launch, order)
    assert shapes is not None
    wanted = {}
    for cell, word in found.constants.items():
        if cell.array == PRIMITIVE and cell.index[0] != RECORD_BANK:
            bank, row, channel = cell.index
            vertex = shapes.provoking[shape] if bank == PROVOKING_BANK else shapes.corners[shape, bank - 1]
            wanted[int(vertex), PARAMETER_TARGET + row, channel] = word
    records = [cell.index[1:] for cell in found.constants if cell.array == PRIMITIVE and cell.index[0] == RECORD_BANK]
    starts = [cell for cell in found.start if cell.array == "temporaries" and cell.index[0] == 0]
    edges = [(_EDGES[cell.index[1]], pixels(cell.lane)) for cell in starts if cell.index[1] < len(_EDGES)]
    covered = sorted({pixels(cell.lane) for cell in found.targets})
    return wanted | words_that_matter(drawing, shape, Needs(records, edges, covered))
