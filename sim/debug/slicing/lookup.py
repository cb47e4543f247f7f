"""The places that `why` names, found by these names, and what they hold now."""

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np

from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, INT_CONSTANTS, WORD_BYTES
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.following import names_of
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.place import (
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
    Place,
    state_arrays,
    words,
)
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
    """What a place that `why` names so holds now, as it says that; None: no place is called so here."""
    found = place_named(session, text)
    if found is None:
        return None
    names, place = found
    started, wavefront = session.started, session.wavefront
    if place.is_state:
        return names.word(place, words(wavefront.batch, place)[0])
    probe = Probe(started.instruction_set, started.launch, wavefront.order, session.cancellation)
    return names.word(place, probe.word(place))


def place_named(session: Session, text: str) -> tuple[Names, Place] | None:
    """The place that `why` names so, of the lane that is looked at where no other one is named; None: there is none."""
    lane, match = session.lane, _LANE.fullmatch(text.strip())
    names = names_of(session, session.started, session.wavefront.order, lane)
    if match is not None:
        lane = min(int(match[2]), _MOST)
    if not 0 <= lane < session.wavefront.batch.size:
        return None
    candidates = chain(_outside(session, text.strip(), names), _of_state(session, lane))
    place = next((place for place in candidates if names.name(place) == text.strip()), None)
    return None if place is None else (names, place)


def _of_state(session: Session, lane: int) -> Iterator[Place]:
    """All places of a lane, and those that the wavefront has as a whole."""
    batch = session.wavefront.batch
    for array, values in state_arrays(batch).items():
        yield from (Place(array, index, lane) for index in np.ndindex(*values.shape[:-1]))
    for depth, frame in enumerate(batch.frames):
        yield from (Place(FRAMES, (depth, row), lane) for row in range(len(frame)))
    if hasattr(batch, SHARE):
        yield from (Place(SHARE, index) for index in np.ndindex(*getattr(batch, SHARE).shape[:-1]))


def _outside(session: Session, text: str, names: Names) -> Iterator[Place]:
    """Places of constants and of memory that may be called so."""
    program = session.started.launch.program
    for array, count in ((INTS, INT_CONSTANTS), (BOOLS, BOOL_CONSTANTS)):
        yield from (Place(array, (number,)) for number in range(count))
    for row in range(len(program.constants.all_floats())):
        yield from (Place(FLOATS, (row, channel)) for channel in range(CHANNELS))
    if (match := _BANK.fullmatch(text)) and names.drawn is not None:
        yield from _of_bank(session, int(match[1]), int(match[2]))
    yield from _of_memory(session, text)
    if names.ringed is not None and text.startswith("ring dword "):
        yield from _of_rings(session)


def _of_bank(session: Session, bank: int, row: int) -> Iterator[Place]:
    value = session.value(f"CB{bank}[{row}]")
    yield from (Place(PRIMITIVE, (bank, row, channel)) for channel in range(len(value.words)) if bank)


def _of_memory(session: Session, text: str) -> Iterator[Place]:
    launch = session.started.launch
    if match := _ELEMENT.fullmatch(text):
        number, i, j = (min(int(each), _MOST) for each in match.groups())
        is_input = text.startswith("input")
        buffers = launch.inputs.buffers if is_input else launch.outputs
        if number < len(buffers) and i < buffers[number].width_limit and j < buffers[number].height_limit:
            first = int(element_address(buffers[number], np.array([i]), np.array([j]))[0])
            size = buffers[number].element.element_bytes
            yield Place(MEMORY, (first, size, number if is_input else WORDS))
    if match := _WORD.fullmatch(text):
        yield Place(MEMORY, (int(match[1], 16), WORD_BYTES, WORDS))
    if (match := _VERTEX.fullmatch(text)) and isinstance(launch, ThreadLaunch):
        number, element, byte = (min(int(each), _MOST) for each in match.groups())
        if number < len(launch.buffers):
            buffer = launch.buffers[number]
            yield Place(MEMORY, (buffer.address + element * buffer.stride + byte, WORD_BYTES, WORDS))


def _of_rings(session: Session) -> Iterator[Place]:
    launch = session.started.launch
    assert isinstance(launch, ThreadLaunch)
    for number, ring in ((RING, launch.ring), (ITEMS, launch.written)):
        for dword in range(0 if ring is None else ring.size):
            yield Place(MEMORY, (dword * WORD_BYTES, WORD_BYTES, number))
