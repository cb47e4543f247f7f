"""Where two runs of a wavefront diverge: on the hardware and on the golden model, or of two programs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import Cell, as_bits, state_arrays
from ctm.sim.debug.slicing.names import Names
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_MOST = 12
"""Cells that are shown."""
_NOT_SHOWN = ("outputs", "written", "conditional", "cleared")
"""What the hardware does not show."""
_OF_ALUS = ("predicate", "address", "previous")
"""What lives as long as a clause, of which the hardware traces less."""


@dataclass(frozen=True)
class Difference:
    """The first instruction after which two runs of a wavefront differ.

    `units` are those of the instructions. `rows` are the name, the word here and the word there of the first cells that
    differ; `count` is the number of all of them.
    """

    units: tuple[int, int]
    rows: tuple[tuple[str, str, str], ...]
    count: int


def difference_from_model(session: Session) -> Difference | None:
    """Continue to the first instruction after which the hardware's wavefront is not the golden model's.

    None if the wavefront reaches its end without a difference. Registers, masks and the like are compared; masks on the
    stack and memory are not.

    Raises
    ------
    DebugError
        There is no hardware; or it executed another instruction.
    """
    wavefront = session.wavefront
    if not isinstance(wavefront, HardwareWavefront):
        raise DebugError("diff takes a job to compare with; alone it compares engine rtl with the golden model")
    while not wavefront.is_over:
        unit = session.unit
        wavefront.advance()
        found = _difference(session, wavefront.batch, wavefront.model.batch, (unit, unit), (*_NOT_SHOWN, *_OF_ALUS))
        if found is not None:
            return found
    return None


def difference_from(session: Session, other: Session) -> Difference | None:
    """Continue to the first instruction after which a wavefront is not that of another job at the same position.

    All arrays of the state are compared, and outputs; predicates, address registers and previous results only if
    neither wavefront is the hardware's. Of a hardware wavefront, arrays that it does not trace are its golden model's.
    The other session goes to where this one is, and on with it.

    Raises
    ------
    DebugError
        The other job has no such position, or is for another instruction set; or one of them ends before the other.
        Of a draw, threads are in the hardware's wavefronts in one session alone.
    """
    if other is session:
        raise DebugError("a session is compared with another one, not with itself")
    if other.view.kind != session.view.kind:
        raise DebugError(f"the other job's programs are of {other.view.kind}, those of this one of {session.view.kind}")
    other.go_to(session.position)
    if bool(session.started.batches.size) != bool(other.started.batches.size):
        raise DebugError("threads of draws are in the hardware's wavefronts on engine rtl, or with batches, alone")
    mine, its = session.wavefront, other.wavefront
    is_traced = any(isinstance(each, HardwareWavefront) for each in (mine, its))
    left_out = _OF_ALUS if is_traced else ()
    while True:
        if mine.is_over or its.is_over:
            if mine.is_over != its.is_over:
                raise DebugError(f"the wavefront ends earlier {'here' if mine.is_over else 'there'}")
            return None
        units = session.unit, other.unit
        mine.advance()
        its.advance()
        found = _difference(session, mine.batch, its.batch, units, left_out)
        if found is not None:
            return found


def _difference(
    session: Session, mine: Batch[Any], its: Batch[Any], units: tuple[int, int], left_out: tuple[str, ...]
) -> Difference | None:
    launch = session.started.launch
    names = Names(session.view, launch, session.lane)
    rows, count = [], 0
    for cell, here, there in _differing(mine, its, left_out):
        if isinstance(launch, ThreadLaunch) and not mine.covered[cell.lane]:
            # No thread: nothing says what such a lane begins with.
            continue
        count += 1
        if count <= _MOST:
            texts = names.word(cell, here), names.word(cell, there)
            if texts[0] == texts[1]:
                texts = f"0x{int(here):08x}", f"0x{int(there):08x}"
            rows.append((names.name(cell), *texts))
    return Difference(units, tuple(rows), count) if count else None


def _differing(mine: Batch[Any], its: Batch[Any], left_out: tuple[str, ...]) -> Iterator[tuple[Cell, Any, Any]]:
    """Cells of both that hold other words, and these."""
    others = state_arrays(its)
    for name, array in state_arrays(mine).items():
        if name in left_out:
            continue
        # Programs may have other numbers of registers.
        shape = tuple(map(min, array.shape, others[name].shape))
        here, there = (as_bits(each[tuple(map(slice, shape))]) for each in (array, others[name]))
        for *index, lane in np.argwhere(here != there).tolist():
            yield Cell(name, tuple(index), lane), here[(*index, lane)], there[(*index, lane)]
