"""Whole registers, as fetches and exports read and write them."""

import numpy as np

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Mask
from ctm.sim.golden.r700.operands import temporary_index
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch

_ONE = np.float32(1)
_MASK = ComponentSelect.MASK.value


def number_of(batch: Batch, program: Program, number: int, *, relative: bool) -> int | None:
    """Where a register is in the batch, `number` plus aL with `relative`; None if there is no such register.

    Clause temporaries cannot be reached with aL.
    """
    if not relative:
        return temporary_index(program, number)
    number += batch.control.loop_index
    return number if number < program.information.gprs else None


def read_register(batch: Batch, at: int | None) -> Floats:
    """All channels of a register, [4, n]; zeros if there is none. Read only."""
    return np.zeros((CHANNELS, batch.size), np.float32) if at is None else batch.temporaries[at]


def selected(components: Floats, select: int) -> Floats:
    """What a select other than MASK makes of `components` [4, n]: one of them, 0 or 1.0. Other codes are 0 too."""
    if select < CHANNELS:
        component: Floats = components[select]
        return component
    return np.full(components.shape[1], _ONE if select == ComponentSelect.ONE.value else 0, np.float32)


def write_register(batch: Batch, at: int | None, components: Floats, selects: tuple[int, ...], executing: Mask) -> None:
    """Write what `selects` make of `components` [4, n] to the channels of a register, but for those that are masked."""
    if at is None:
        return
    everywhere = bool(executing.all())
    for channel, select in enumerate(selects):
        if select == _MASK:
            continue
        words = selected(components, select)
        if everywhere:
            batch.temporaries[at, channel] = words
        else:
            np.copyto(batch.temporaries[at, channel], words, where=executing)
        flag = CHANNELS * at + channel
        is_clean = not fp.has_denormal(words)
        batch.clean[flag] = is_clean and (everywhere or batch.clean[flag])
