"""What operands are: registers, constants, values and previous results, with their modifiers."""

from typing import NamedTuple

import numpy as np

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.r700.instruction import Bank, Form, Operand
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch

_NOTHING = np.zeros(1, np.float32)
_NEGATE, _MAGNITUDE, _NEGATED_MAGNITUDE = 1, 2, 3
"""Input modifiers as `fp.input_modifier` has them."""


class Value(NamedTuple):
    """An operand's words, [n] or [1], and whether none is a denormal for certain."""

    words: Floats
    is_clean: bool


def operand(batch: Batch, program: Program, wanted: Operand, executing: Mask) -> Value:
    """The value of an operand; a register or constant that does not exist is 0.

    Raises
    ------
    BusError
        The constant got an error response.
    """
    return _modified(wanted, _source(batch, program, wanted, executing))


def operands_of(batch: Batch, program: Program, form: Form, operands: tuple[Operand, ...], executing: Mask) -> Value:
    """The operands of neighbouring slots: [slots, n] or what broadcasts to it; errors as `operand`."""
    first = operands[0]
    if form is Form.SAME:
        return operand(batch, program, first, executing)
    if form is Form.EACH:
        values = [operand(batch, program, each, executing) for each in operands]
        words = np.stack(np.broadcast_arrays(*(value.words for value in values)))
        return Value(words, all(value.is_clean for value in values))
    return _modified(first, _row(batch, program, first, len(operands)))


def _row(batch: Batch, program: Program, first: Operand, count: int) -> Value:
    """`count` channels of a register or constant, or slots' results, from those of `first` on."""
    if first.bank is Bank.PREVIOUS:
        positions = slice(first.number, first.number + count)
        return Value(batch.previous[positions], all(batch.previous_clean[positions]))
    channels = slice(first.channel, first.channel + count)
    if first.bank is Bank.CONSTANT:
        if first.number >= FLOAT_CONSTANTS:
            return Value(_NOTHING, True)
        words = program.constants.float_constant(first.number)[channels, None]
        return Value(words, program.constants.is_clean(first.number))
    if first.bank is Bank.PRIMITIVE:
        return Value(_primitive(batch, program, first, channels), False)
    at = temporary_index(program, first.number)
    if at is None:
        return Value(_NOTHING, True)
    flags = slice(CHANNELS * at + channels.start, CHANNELS * at + channels.stop)
    return Value(batch.temporaries[at, channels], all(batch.clean[flags]))


def _modified(wanted: Operand, value: Value) -> Value:
    if not (wanted.absolute or wanted.negated):
        return value
    modifier = _NEGATE if wanted.negated else 0
    if wanted.absolute:
        modifier = _NEGATED_MAGNITUDE if wanted.negated else _MAGNITUDE
    return Value(fp.input_modifier(value.words, modifier), value.is_clean)


def _source(batch: Batch, program: Program, wanted: Operand, executing: Mask) -> Value:
    if wanted.bank is Bank.GPR:
        if wanted.index is None:
            return register(batch, program, wanted.number, wanted.channel)
        return _relative_register(batch, program, wanted)
    if wanted.bank is Bank.CONSTANT:
        if wanted.index is None:
            return _constant(program, wanted.number, wanted.channel)
        rows = wanted.number + index(batch, wanted.index)
        return Value(program.constants.float_rows(rows, executing)[wanted.channel], False)
    if wanted.bank is Bank.PRIMITIVE:
        return Value(_primitive(batch, program, wanted, slice(wanted.channel, wanted.channel + 1))[0], False)
    if wanted.bank is Bank.PREVIOUS:
        return Value(batch.previous[wanted.number], batch.previous_clean[wanted.number])
    return Value(np.array([wanted.number], np.uint32).view(np.float32), False)


def _primitive(batch: Batch, program: Program, wanted: Operand, channels: slice) -> Floats:
    """Channels of a row of the primitive's constants, [channels, n]: all lanes of a wavefront have the same."""
    assert program.primitives is not None
    rows = program.primitives.rows(batch.order, wanted.kcache_bank, wanted.number)
    return np.repeat(rows[:, channels].T, batch.lanes, axis=1)


def temporary_index(program: Program, number: int) -> int | None:
    """Where a register named by `number` is in the batch; None if there is no such register."""
    if number >= FIRST_CLAUSE_TEMPORARY:
        number += program.information.gprs - FIRST_CLAUSE_TEMPORARY
        return number if number < program.temporaries else None
    return number if number < program.information.gprs else None


def register(batch: Batch, program: Program, number: int, channel: int) -> Value:
    """A channel of a register."""
    at = temporary_index(program, number)
    if at is None:
        return Value(_NOTHING, True)
    return Value(batch.temporaries[at, channel], batch.clean[CHANNELS * at + channel])


def index(batch: Batch, mode: IndexMode) -> Integers:
    """What a relative number adds: a channel of AR, [n], or aL, [1]."""
    if mode is IndexMode.LOOP:
        return np.array([batch.control.loop_index])
    channel: Integers = batch.address[mode.value]
    return channel


def _relative_register(batch: Batch, program: Program, wanted: Operand) -> Value:
    assert wanted.index is not None
    numbers = wanted.number + index(batch, wanted.index)
    exists = (numbers >= 0) & (numbers < program.information.gprs)
    rows = np.where(exists, numbers, 0)
    words = np.zeros(batch.size, np.uint32)
    found = batch.temporaries[rows, wanted.channel, np.arange(batch.size)].view(np.uint32)
    np.copyto(words, found, where=exists)
    return Value(words.view(np.float32), False)


def _constant(program: Program, row: int, channel: int) -> Value:
    if row >= FLOAT_CONSTANTS:
        return Value(_NOTHING, True)
    words = program.constants.float_constant(row)[channel : channel + 1]
    return Value(words, program.constants.is_clean(row))
