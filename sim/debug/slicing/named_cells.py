"""The cells that `why` names, found by these names, and what they hold now."""

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, INT_CONSTANTS, WORD_BYTES
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import (
    BOOLS,
    FLOATS,
    FRAMES,
    INTS,
    ITEMS,
    MEMORY,
    PRIMITIVE,
    RING,
    SHARE,
    WORDS,
    Cell,
    state_arrays,
    words,
)
from ctm.sim.debug.slicing.following import names_of
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.probing import Probe
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_LANE = re.compile(r"(.*) of lane (\d+)")
_BANK = re.compile(r"CB(\d+)\[(\d+)\]\.\w( \(.*\))?")
_ELEMENT = re.compile(r"(?:input |o)(\d+)(?: \(|\[)(\d+), ?(\d+)[)\]]")
_WORD = re.compile(r"memory (0x[0-9a-f]+)")
_VERTEX = re.compile(r"vertex buffer (\d+) \(element (\d+), byte (\d+)\)")
_MOST = 1 << 40
"""No number of a name is as large."""


def word_named(session: Session, text: str) -> str | None:
    """What a cell that `why` names so holds now, as it says that; None: no cell is called so here."""
    found = cell_named(session, text)
    if found is None:
        return None
    names, cell = found
    started, wavefront = session.started, session.wavefront
    if cell.is_state:
        return names.word(cell, words(wavefront.batch, cell)[0])
    probe = Probe(started.instruction_set, started.launch, wavefront.order, session.cancellation)
    return names.word(cell, probe.word(cell))


def cell_named(session: Session, text: str) -> tuple[Names, Cell] | None:
    """The cell that `why` names so, of the lane that is looked at where no other one is named; None: there is none."""
    lane, match = session.lane, _LANE.fullmatch(text.strip())
    names = names_of(session, session.started, session.wavefront.order, lane)
    if match is not None:
        lane = min(int(match[2]), _MOST)
    if not 0 <= lane < session.wavefront.batch.size:
        return None
    candidates = chain(_outside(session, text.strip(), names), _of_state(session, lane))
    cell = next((cell for cell in candidates if names.name(cell) == text.strip()), None)
    return None if cell is None else (names, cell)


def _of_state(session: Session, lane: int) -> Iterator[Cell]:
    """All cells of a lane, and those that the wavefront has as a whole."""
    batch = session.wavefront.batch
    for array, values in state_arrays(batch).items():
        yield from (Cell(array, index, lane) for index in np.ndindex(*values.shape[:-1]))
    for depth, frame in enumerate(batch.frames):
        yield from (Cell(FRAMES, (depth, row), lane) for row in range(len(frame)))
    if hasattr(batch, SHARE):
        yield from (Cell(SHARE, index) for index in np.ndindex(*getattr(batch, SHARE).shape[:-1]))


def _outside(session: Session, text: str, names: Names) -> Iterator[Cell]:
    """Cells of constants and of memory that may be called so."""
    program = session.started.launch.program
    for array, count in ((INTS, INT_CONSTANTS), (BOOLS, BOOL_CONSTANTS)):
        yield from (Cell(array, (number,)) for number in range(count))
    for row in range(len(program.constants.all_floats())):
        yield from (Cell(FLOATS, (row, channel)) for channel in range(CHANNELS))
    if (match := _BANK.fullmatch(text)) and names.drawn is not None:
        yield from _of_bank(session, int(match[1]), int(match[2]))
    yield from _of_memory(session, text)
    if names.ringed is not None and text.startswith("ring dword "):
        yield from _of_rings(session)


def _of_bank(session: Session, bank: int, row: int) -> Iterator[Cell]:
    value = session.value(f"CB{bank}[{row}]")
    yield from (Cell(PRIMITIVE, (bank, row, channel)) for channel in range(len(value.words)) if bank)


def _of_memory(session: Session, text: str) -> Iterator[Cell]:
    launch = session.started.launch
    if match := _ELEMENT.fullmatch(text):
        number, i, j = (min(int(each), _MOST) for each in match.groups())
        is_input = text.startswith("input")
        buffers = launch.inputs.buffers if is_input else launch.outputs
        if number < len(buffers) and i < buffers[number].width_limit and j < buffers[number].height_limit:
            first = int(element_address(buffers[number], np.array([i]), np.array([j]))[0])
            size = buffers[number].element.element_bytes
            yield Cell(MEMORY, (first, size, number if is_input else WORDS))
    if match := _WORD.fullmatch(text):
        yield Cell(MEMORY, (int(match[1], 16), WORD_BYTES, WORDS))
    if (match := _VERTEX.fullmatch(text)) and isinstance(launch, ThreadLaunch):
        number, element, byte = (min(int(each), _MOST) for each in match.groups())
        if number < len(launch.buffers):
            buffer = launch.buffers[number]
            yield Cell(MEMORY, (buffer.address + element * buffer.stride + byte, WORD_BYTES, WORDS))


def _of_rings(session: Session) -> Iterator[Cell]:
    launch = session.started.launch
    assert isinstance(launch, ThreadLaunch)
    for number, ring in ((RING, launch.ring), (ITEMS, launch.written)):
        for dword in range(0 if ring is None else ring.size):
            yield Cell(MEMORY, (dword * WORD_BYTES, WORD_BYTES, number))
