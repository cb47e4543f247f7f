"""Whether each reason that a slice gives for a cell is needed: with another word there, the cell's word is another."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.slicing.cell import FLOATS, MEMORY, PRIMITIVE, Cell, array_of, exists, words
from ctm.sim.debug.slicing.probing import unclean
from ctm.sim.debug.slicing.slicer import Cause, Slice, Slicer
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.launch import Launch

_COPIES = 512
_UNITS = 8
_CORNERS = (
    0,
    1,
    0x3F80_0000,
    0xBF80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x4B00_0000,
)
_REGISTERS = ("temporaries", "previous", "outputs")
_MASKS = (
    "active", "valid_mask", "loop_inactive", "alu_result", "predicates", "predicate", "branch_mask", "continue_mask",
    "break_mask", "written",
)  # fmt: skip
"""Of either instruction set."""


def needless(launch: Launch[Any], slicer: Slicer, found: Slice, seed: int, most: int) -> list[tuple[int, Cell, Cell]]:
    """Some of the reasons that are not needed: step, the cell that was made, and the reason; of some instructions.

    Cells outside of the slice hold other words, too, as a cell may matter only together with these.
    """
    random, result = np.random.default_rng(seed), []
    kept = Kept.of_outputs(launch)
    for cause in found.causes[:: max(1, len(found.causes) // most)]:
        for target, reasons in cause.reasons.items():
            if target.is_state:
                unneeded = (each for each in reasons if not _matters(slicer, found, cause, target, each, random))
                result += [(cause.step, target, each) for each in unneeded]
        kept.restore()
    return result


def _matters(
    slicer: Slicer, found: Slice, cause: Cause, target: Cell, reason: Cell, random: np.random.Generator
) -> bool:
    state = slicer.track.state(cause.step - found.first)
    if reason.is_state:
        return _differs(slicer, _copies(slicer, state, cause, target, reason, random), cause, target)
    beside = _copies(slicer, state, cause, target, reason, random)
    for word in _outside(slicer.probe.word(reason), reason, random):
        with slicer.probe.changed(reason, word):
            if _differs(slicer, beside.copy(), cause, target):
                return True
    return False


def _known(slicer: Slicer, state: Batch[Any], cause: Cause) -> npt.NDArray[np.uint32]:
    """Words that a comparison may be with: those of registers, and of the instruction, with its literals."""
    code = slicer.probe.launch.program.image.code[cause.unit : cause.unit + _UNITS]
    literals = np.array([word for unit in code for word in unit], np.uint32)
    return np.concatenate([np.unique(state.temporaries.view(np.uint32)[..., 0]), literals])


def _copies(
    slicer: Slicer, state: Batch[Any], cause: Cause, target: Cell, reason: Cell, random: np.random.Generator
) -> Batch[Any]:
    """Copies with other words in the reason; in every second one unlisted registers hold others, too."""
    batch = state.take(np.zeros(_COPIES, np.int64))
    batch.order = np.arange(_COPIES)
    listed = set(cause.reasons[target])
    for name in (*_REGISTERS, *_MASKS):
        array = getattr(batch, name, np.zeros(0, bool))
        bits = array.view(np.uint32) if array.dtype == np.float32 else array
        for *index, lane in np.ndindex(*bits.shape[:-1], batch.lanes) if array.size else ():
            if Cell(name, tuple(index), lane) not in listed:
                others = bits[(*index, slice(lane, None, batch.lanes))]
                count = others[1::2].size
                others[1::2] = random.random(count) < 0.5 if bits.dtype == bool else _words(random, count, others[:1])
    unclean(batch)
    if not reason.is_state:
        batch.set_active(batch.active)
        return batch
    array, before = array_of(batch, reason)
    bits = array.view(np.uint32) if array.dtype == np.float32 else array
    chosen = bits[(*before, slice(reason.lane, None, batch.lanes) if reason.lane >= 0 else slice(None))]
    if chosen.dtype == bool:
        chosen[:] = ~chosen
    elif chosen.dtype == np.uint32:
        chosen[:] = _words(random, chosen.size, _known(slicer, state, cause))
    else:
        chosen[:] = random.integers(-128, 128, chosen.size)
    batch.set_active(batch.active)
    return batch


def _words(random: np.random.Generator, count: int, known: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Words of all kinds: any bits, floats near 1, corners, and some that are there."""
    kinds = [
        random.integers(1 << 32, size=count, dtype=np.uint32),
        random.uniform(-4, 4, count).astype(np.float32).view(np.uint32),
        random.choice(np.array(_CORNERS, np.uint32), count),
        random.choice(known, count),
        np.uint32(1) << random.integers(0, 32, count, dtype=np.uint32) ^ random.choice(known, count),
    ]
    return np.choose(random.integers(len(kinds), size=count), kinds).astype(np.uint32)


def _outside(word: Any, cell: Cell, random: np.random.Generator) -> Iterator[Any]:
    """Other words for a cell that is in no register."""
    if cell.array in (FLOATS, PRIMITIVE):
        yield from (int(each) for each in _words(random, 200, np.array([word], np.uint32)))
    elif cell.array == MEMORY:
        for _ in range(100):
            size = len(word) // 4 or 1
            yield _words(random, size, np.zeros(1, np.uint32)).tobytes()[: len(word)]
    elif isinstance(word, bool | np.bool_):
        yield not word
    else:
        yield from (
            word.__class__(count, start, step) for count in (0, 1, 9) for start in (0, 5) for step in (0, 1, -2)
        )


def _differs(slicer: Slicer, batch: Batch[Any], cause: Cause, target: Cell) -> bool:
    """Whether the target is another in one of the wavefronts, or one of them does not complete the instruction."""
    count = batch.wavefronts
    states = slicer.probe.step_states(batch)
    if sum(state.wavefronts for state, _ in states) < count:
        return True
    return any(not exists(state, target) or (words(state, target) != cause.made[target]).any() for state, _ in states)
