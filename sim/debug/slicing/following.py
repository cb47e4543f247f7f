"""What the programs of a draw in front of one left for it: why that is what it is, program after program.

A pixel program takes parameters of vertices, and by its edge values and the primitive's record also positions; a copy
or geometry program takes dwords of its ring. Each of these was left by a thread of the program in front of it, whose
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
from ctm.sim.debug.slicing.answer import Answer
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.place import ITEMS, MEMORY, PRIMITIVE, RING, Place
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
"""Which edge values channels of R0 begin with."""

Wanted = dict[int, Words]
"""Words that threads left, by thread, and the places that hold them."""


def follow(session: Session, answer: Answer) -> Answer:
    """An answer for the wavefront that is looked at, with those for what the programs in front of this one left."""
    drawing, launch, batch = session.started.drawing, session.started.launch, session.wavefront.batch
    if drawing is None:
        return answer

    def pixels(lane: int) -> tuple[int, int]:
        return int(batch.i[lane]), int(batch.j[lane])

    found: list[Answer] = []
    newest = [answer]
    if isinstance(launch, PixelLaunch):
        started: Started = drawing.programs["DC" if "DC" in drawing.programs else "VS"]
        wanted = _of_vertices(drawing, launch, session.wavefront.order, answer.slice, pixels)
        newest = _sliced(session, drawing, started, _exports(started.launch, wanted))
        found += newest
        launch = started.launch
    while isinstance(launch, ThreadLaunch) and launch.ring is not None:
        writer = drawing.writer(launch)
        launch = writer.launch
        newest = _sliced(session, drawing, writer, _items(launch.written.shape[1], newest))
        found += newest
    return replace(answer, before=tuple(found))


def _sliced(session: Session, drawing: Drawing, started: Started, wanted: Wanted) -> list[Answer]:
    """The answers for words that threads of a launch left."""
    kept = Kept.of_outputs(started.launch)
    try:
        return [_answer(session, drawing, started, thread, words) for thread, words in sorted(wanted.items()) if words]
    finally:
        kept.restore()


def _answer(session: Session, drawing: Drawing, started: Started, thread: int, wanted: Words) -> Answer:
    launch, index = started.launch, started.holds(thread, 0)
    assert index is not None
    arrays = started.i[index], started.j[index], started.covered[index]
    order, lane = int(started.order[index]), int(np.flatnonzero(arrays[0] == thread)[0])
    wavefront = Wavefront(started.instruction_set, launch, order, *arrays, session.cancellation)
    slicer = Slicer(started.instruction_set, launch, wavefront, session.cancellation)
    found = slicer.slice(place if place.array == MEMORY else place._replace(lane=lane) for place in wanted)
    text = f"{started.name}, {drawing.name(launch, order, thread, 0)}"
    if list(found.targets.values()) != [word for _, word in sorted(wanted.items())]:
        raise DebugError(f"{text} would leave something else now: what it reads was stored over since it ran")
    return Answer(text, found, names_of(session, started, order, lane), session.code)


def names_of(session: Session, started: Started, order: int, lane: int) -> Names:
    """The names of a launch's places for the wavefront with this place in it."""
    launch, drawing = started.launch, started.drawing
    if isinstance(launch, PixelLaunch):
        assert drawing is not None
        return Names(session.view, launch, lane, drawn=partial(drawing.bank, launch, order))
    if isinstance(launch, ThreadLaunch):
        assert drawing is not None
        ring = drawing.ring
        return Names(session.view, launch, lane, ringed=lambda dword, is_own: ring(launch, dword, written=is_own))
    return Names(session.view, launch, lane)


def _items(dwords: int, answers: Iterable[Answer]) -> Wanted:
    """What answers took of a ring of items of so many dwords, by the thread that wrote it."""
    found: Wanted = {}
    for answer in answers:
        for place, word in answer.slice.elements.items():
            address, size, number = place.index
            if number == RING:
                thread = address // WORD_BYTES // dwords
                found.setdefault(thread, {})[Place(MEMORY, (address, size, ITEMS))] = word
    return found


def _exports(launch: Launch[Any], wanted: dict[tuple[int, int, int], int]) -> Wanted:
    """Words of vertices by vertex, target and channel, as what threads exported; what none exported is 0."""
    found: Wanted = {}
    for (vertex, target, channel), word in wanted.items():
        if target in launch.program.outputs:
            place = Place("outputs", (launch.program.outputs.index(target), channel), 0)
            found.setdefault(vertex, {})[place] = word
    return found


def _of_vertices(
    drawing: Drawing, launch: PixelLaunch, order: int, found: Slice, pixels: Callable[[int], tuple[int, int]]
) -> dict[tuple[int, int, int], int]:
    """What a slice took of vertices: by vertex, target and channel the word."""
    shapes, shape = drawing.shapes, drawing.shape(launch, order)
    assert shapes is not None
    wanted = {}
    for place, word in found.constants.items():
        if place.array == PRIMITIVE and place.index[0] != RECORD_BANK:
            bank, row, channel = place.index
            vertex = shapes.provoking[shape] if bank == PROVOKING_BANK else shapes.corners[shape, bank - 1]
            wanted[int(vertex), PARAMETER_TARGET + row, channel] = word
    records = [
        place.index[1:] for place in found.constants if place.array == PRIMITIVE and place.index[0] == RECORD_BANK
    ]
    starts = [place for place in found.start if place.array == "temporaries" and place.index[0] == 0]
    edges = [(_EDGES[place.index[1]], pixels(place.lane)) for place in starts if place.index[1] < len(_EDGES)]
    covered = sorted({pixels(place.lane) for place in found.targets})
    return wanted | words_that_matter(drawing, shape, Needs(records, edges, covered))
