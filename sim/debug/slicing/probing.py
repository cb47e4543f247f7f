"""Executes one instruction for copies of a wavefront, each with other words in cells of its state."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.slicing.cell import (
    ALL_LANES,
    BOOLS,
    FLOATS,
    INTS,
    ITEMS,
    MEMORY,
    PRIMITIVE,
    RING,
    WORDS,
    Cell,
    array_of,
    exists,
    words,
)
from ctm.sim.debug.slicing.primitives import ProbedPrimitives
from ctm.sim.debug.slicing.recording import RecordedRow
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.dpp.constants import Constants, IntConstant
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

ENDED = "ended"
"""Stands for the control state of a wavefront that has ended."""


class ProbedConstants(Constants):
    """The constants of a program, which note what is taken of them and can be changed."""

    def __init__(self, original: Constants) -> None:
        self.__dict__.update(original.__dict__)
        self._floats = original.all_floats().copy()
        self._ints = list(original.all_ints())
        self._bools = list(original.all_bools())
        self.taken: set[Cell] = set()

    def float_constant(self, index: int) -> npt.NDArray[np.float32]:
        """See `Constants.float_constant`."""
        return RecordedRow.of(super().float_constant(index), index, self.taken)

    def float_rows(self, rows: Integers, lanes: Mask) -> npt.NDArray[np.float32]:
        """See `Constants.float_rows`."""
        inside = np.unique(rows[(rows >= 0) & (rows < len(self._floats))])
        self.taken.update(Cell(FLOATS, (int(row), channel)) for row in inside for channel in range(4))
        return super().float_rows(rows, lanes)

    def is_clean(self, index: int) -> bool:
        """Never for certain: constants are changed."""
        del index
        return False

    def int_constant(self, index: int) -> IntConstant:
        """See `Constants.int_constant`."""
        self.taken.add(Cell(INTS, (index,)))
        return super().int_constant(index)

    def bool_constant(self, index: int) -> bool:
        """See `Constants.bool_constant`."""
        self.taken.add(Cell(BOOLS, (index,)))
        return super().bool_constant(index)

    def word(self, cell: Cell) -> Any:
        """What a cell in a constant file holds: bits of a float, an int constant, a bool."""
        number = cell.index[0]
        if cell.array == FLOATS:
            return int(self._floats.view(np.uint32)[cell.index])
        return self._ints[number] if cell.array == INTS else self._bools[number]

    def put(self, cell: Cell, word: Any) -> None:
        """Change what a cell in a constant file holds."""
        number = cell.index[0]
        if cell.array == FLOATS:
            self._floats.view(np.uint32)[cell.index] = word
        elif cell.array == INTS:
            self._ints[number] = word
        else:
            self._bools[number] = word


class ProbeJournal(Journal[Any]):
    """Keeps what a step does beside the state that it leaves; outputs are not sent."""

    def __init__(self, launch: Launch[Any], instruction_set: InstructionSet[Any, Any]) -> None:
        super().__init__(launch, describe_pc=instruction_set.describe_pc, stores=self)
        self.begin()

    def begin(self) -> None:
        """Clear what was kept."""
        self.unit = ""
        self.over: list[Batch[Any]] = []
        """Wavefronts that ended."""
        self.reads: list[tuple[Buffer | int, Integers, Mask]] = []
        """A buffer, or the number of a memory of words, addresses [any, n], and which are read."""
        self.stores: list[tuple[int, int, Integers, Mask]] = []
        """The number of a memory, bytes, addresses [any, n], and which are stored."""

    def issued(self, batch: Any, unit: str) -> None:
        """See `Journal.issued`."""
        super().issued(batch, unit)
        self.unit = unit

    def read(self, batch: Any, buffer: Buffer, addresses: list[Integers]) -> None:
        """See `Journal.read`."""
        found = np.stack(addresses) if addresses else np.zeros((0, batch.size), np.int64)
        self.reads.append((buffer, found, np.ones(found.shape, bool)))

    def read_words(self, batch: Any, addresses: Integers, reading: Mask) -> None:
        """See `Journal.read_words`."""
        del batch
        self.reads.append((WORDS, addresses, reading))

    def read_ring(self, batch: Any, addresses: Integers, reading: Mask) -> None:
        """See `Journal.read_ring`."""
        del batch
        self.reads.append((RING, addresses, reading))

    def stored(self, batch: Any, addresses: Integers, size: int, mask: Mask) -> None:
        """See `StoreObserver.stored`."""
        del batch
        self.stores.append((WORDS, size, addresses, mask))

    def wrote_ring(self, batch: Any, addresses: Integers, stored: Mask) -> None:
        """See `Journal.wrote_ring`."""
        del batch
        if len(addresses):
            self.stores.append((ITEMS, WORD_BYTES, addresses, stored))

    def ended(self, batch: Any) -> None:
        """See `Journal.ended`."""
        self.over.append(batch)

    def faulted(
        self, batch: Any, status: Status, detail: str = "", *, client: BusClient | None = None,
        address: int | None = None,
    ) -> None:  # fmt: skip
        """See `Journal.faulted`."""


class Copies:
    """Copies of one wavefront after an instruction: `states` by control state, each with whether it has ended.

    Copies are told apart by their `order`; those in none of the states faulted.
    """

    def __init__(self, count: int, states: Sequence[tuple[Batch[Any], bool]]) -> None:
        self._count = count
        self.states = states

    @property
    def faulted(self) -> Mask:
        """Which of them faulted."""
        result = np.ones(self._count, bool)
        for state, _ in self.states:
            result[state.order] = False
        return result

    def differ(self, cell: Cell, expected: Any, control: Any) -> Mask:
        """Which copies [copies] faulted, or continued as `control` says with unexpected bits in a cell.

        Masks of two wavefronts at different positions in the program cannot be compared; those of ended ones can.
        """
        result = self.faulted
        for state, ended in self.states:
            if (ended or control in (ENDED, state.control)) and exists(state, cell):
                result[state.order] = words(state, cell) != expected
        return result

    def elsewhere(self, control: Any) -> list[tuple[Batch[Any], bool]]:
        """The states that did not continue as `control` says."""
        return [(state, ended) for state, ended in self.states if control != (ENDED if ended else state.control)]


class Probe:
    """Executes instructions of a launch for copies of one wavefront, until `cancellation` ends it.

    `order` is that wavefront's index in the launch.
    """

    def __init__(
        self, instruction_set: InstructionSet[Any, Any], launch: Launch[Any], order: int, cancellation: Cancellation
    ) -> None:
        self._cancellation = cancellation
        self.constants = ProbedConstants(launch.program.constants)
        changed: dict[str, Any] = {"constants": self.constants}
        self._primitives: ProbedPrimitives | None = None
        if isinstance(launch, PixelLaunch):
            assert launch.program.primitives is not None
            changed["primitives"] = self._primitives = ProbedPrimitives(launch.program.primitives, order)
        self.launch = replace(launch, program=replace(launch.program, **changed))
        self.journal = ProbeJournal(self.launch, instruction_set)
        self._executor = instruction_set.executor(self.launch, self.journal)

    def step(self, batch: Batch[Any]) -> list[Batch[Any]]:
        """Execute one instruction: the wavefronts that go on; `journal` has the others, `taken` the constants."""
        self.journal.begin()
        for constants in self._files:
            constants.taken.clear()
        self._cancellation.executed(0, ())
        before = _executed(batch)
        with np.errstate(all="ignore"):
            states = self._executor.step(batch)
            if not self.journal.over:
                return states
            # Where some ended before the instruction, because all their lanes are killed, the others wait for it.
            waits = [_executed(state).items() <= before.items() for state in states]
            return [
                after
                for state, waiting in zip(states, waits, strict=True)
                for after in (self._executor.step(state) if waiting else [state])
            ]

    def word(self, cell: Cell) -> Any:
        """What a cell outside of the state holds; of memory its bytes."""
        if cell.array == PRIMITIVE:
            return self._drawn.word(cell)
        if cell.array != MEMORY:
            return self.constants.word(cell)
        address, size, number = cell.index
        return self._bytes(number)[address : address + size].tobytes()

    def put(self, cell: Cell, word: Any) -> None:
        """Change it."""
        if cell.array == PRIMITIVE:
            self._drawn.put(cell, word)
            return
        if cell.array != MEMORY:
            self.constants.put(cell, word)
            return
        address, size, number = cell.index
        self._bytes(number)[address : address + size] = np.frombuffer(word, np.uint8)

    @contextmanager
    def changed(self, cell: Cell, word: Any) -> Iterator[None]:
        """Change it for a block."""
        with self.all_changed([cell], [word]):
            yield

    @contextmanager
    def all_changed(self, cells: Sequence[Cell], words: Sequence[Any]) -> Iterator[None]:
        """Change several for a block."""
        before = [self.word(cell) for cell in cells]
        for cell, word in zip(cells, words, strict=True):
            self.put(cell, word)
        try:
            yield
        finally:
            for cell, word in zip(cells, before, strict=True):
                self.put(cell, word)

    @property
    def taken(self) -> set[Cell]:
        """The cells in constants that the last instruction took."""
        return {cell for constants in self._files for cell in constants.taken}

    @property
    def _files(self) -> tuple["ProbedConstants | ProbedPrimitives", ...]:
        return (self.constants,) if self._primitives is None else (self.constants, self._primitives)

    @property
    def _drawn(self) -> ProbedPrimitives:
        assert self._primitives is not None
        return self._primitives

    def _bytes(self, number: int) -> npt.NDArray[np.uint8]:
        if number in (RING, ITEMS):
            assert isinstance(self.launch, ThreadLaunch)
            ring = self.launch.ring if number == RING else self.launch.written
            assert ring is not None
            # All of it, without a copy.
            return ring.reshape(-1).view(np.uint8)
        return (self.launch.memory if self.is_live(number) else self.launch.inputs.cached[number]).bytes

    def is_live(self, number: int) -> bool:
        """Whether what an input, or another memory, holds is what the program stored there."""
        return number in (WORDS, ITEMS) or number in self.launch.program.uncached_inputs

    def step_copies(self, batch: Batch[Any]) -> Copies:
        """Execute one instruction for copies of one wavefront."""
        # A step may change the batch itself.
        count = batch.wavefronts
        return Copies(count, self.step_states(batch))

    def step_states(self, batch: Batch[Any]) -> list[tuple[Batch[Any], bool]]:
        """Execute one instruction: states, each with whether it has ended. Those that fault are in none."""
        states = [(state, False) for state in self.step(batch)]
        return [*states, *((state, True) for state in self.journal.over)]


def _executed(batch: Batch[Any]) -> dict[int, int]:
    """How many instructions each wavefront has executed."""
    return dict(zip(batch.order.tolist(), batch.settle().tolist(), strict=True))


class Changes:
    """Which words are changed in which copies of a wavefront."""

    def __init__(self) -> None:
        self.count = 0
        self._changes: dict[Cell, tuple[list[Integers], list[npt.NDArray[Any]]]] = {}

    @classmethod
    def none(cls) -> Self:
        """One copy as it is."""
        found = cls()
        found.grow(1)
        return found

    def grow(self, count: int) -> range:
        """So many more copies, as they are; their numbers."""
        self.count += count
        return range(self.count - count, self.count)

    def change(self, copies: range, cell: Cell, values: Sequence[Any] | npt.NDArray[Any]) -> None:
        """Other words for a cell in copies."""
        numbers, words = self._changes.setdefault(cell, ([], []))
        numbers.append(np.arange(copies.start, copies.stop))
        words.append(np.asarray(values))

    def applied(self, state: Batch[Any]) -> Batch[Any]:
        """The copies."""
        batch = state.take(np.zeros(self.count, np.int64))
        batch.order = np.arange(self.count)
        for cell, (copies, values) in self._changes.items():
            put(batch, cell, np.concatenate(copies), np.concatenate(values))
        unclean(batch)
        batch.set_active(batch.active)
        return batch


def put(batch: Batch[Any], cell: Cell, copies: Integers, values: npt.NDArray[Any]) -> None:
    """Change a cell in some wavefronts of the batch."""
    array, index = array_of(batch, cell)
    bits = array.view(np.uint32) if array.dtype == np.float32 else array
    at = copies if cell.lane == ALL_LANES else copies * batch.lanes + cell.lane
    where: Any = (*index, at)
    bits[where] = values.astype(bits.dtype)


def unclean(batch: Any) -> None:
    """Registers may hold denormals now."""
    batch.clean = [False] * len(batch.clean)
    if hasattr(batch, "previous_clean"):
        batch.previous_clean = [False] * len(batch.previous_clean)
