"""Dynamic backward slicing: walks back from cells of a wavefront to what determined their words.

Before every instruction there is a set of relevant cells. An instruction that may have written one of them replaces it
by its data dependences. A branch is a control dependence if relevant cells would have had other words at the join of
the two paths.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.hardware.wavefront import AnyWavefront
from ctm.sim.debug.slicing.cell import ALL_LANES, FLOATS, MEMORY, PRIMITIVE, Cell, exists, words
from ctm.sim.debug.slicing.determination import Determination, Elsewhere
from ctm.sim.debug.slicing.probing import Probe
from ctm.sim.debug.slicing.slots import units_of
from ctm.sim.debug.slicing.track import Track
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_GROUP_UNITS = 8
"""Units of code in which an instruction's literals are."""
_WORDS = (FLOATS, PRIMITIVE)
"""Constants that may be any word: int constants send wavefronts round loops."""
_TRIES = 2
"""Runs of another path with random constants."""
_MOST_STEPS = 20_000
"""Instructions of another path that are executed to find its join with the one that was taken."""
_MOST_STEPS_OF_ALL = 30_000
"""Instructions of other paths that are executed for a slice: some 10 s. From there on, a path without a join found is
taken to be another one, so that all it depends on is in the slice.
"""

Words = dict[Cell, Any]


@dataclass(frozen=True)
class Cause:
    """An instruction that matters.

    step
        Instructions that the wavefront had executed before it.
    unit
        The unit of code where it is.
    slots
        The units of the slots that made something, of an instruction that is no group its own.
    made
        Cells that it wrote, or kept where it could have written them, with their words after it.
    reasons
        For each of these the cells that determined it.
    read
        The words of all of these before it.
    decided
        Cells that determined where the wavefront continued, with their words.
    """

    step: int
    unit: int
    slots: tuple[int, ...]
    made: Words
    reasons: Mapping[Cell, tuple[Cell, ...]]
    read: Words
    decided: Words


@dataclass(frozen=True)
class Slice:
    """What determined the words in `targets`: instructions, the latest one first, and where it all began.

    `constants` and `elements` of memory were read. `start` are cells before instruction `first`: that of the
    program, or one at which something was set by hand.
    """

    targets: Words
    causes: tuple[Cause, ...]
    constants: Words
    elements: Words
    start: Words
    first: int


class Slicer:
    """Makes slices of one wavefront of a launch; it leaves the wavefront at some step."""

    def __init__(
        self, instruction_set: InstructionSet[Any, Any], launch: Launch[Any], wavefront: AnyWavefront,
        cancellation: Cancellation, *, end: int | None = None,
    ) -> None:  # fmt: skip
        self._unit = instruction_set.unit
        self._launch = launch
        self.probe = Probe(instruction_set, launch, wavefront.order, cancellation)
        writes_ring = isinstance(launch, ThreadLaunch) and launch.written.size > 0
        self._stores = bool(launch.program.uncached_outputs) or writes_ring
        reads_memory = self._stores or bool(launch.program.uncached_inputs)
        self.track = Track(wavefront, end, reads_memory=reads_memory)
        self._steps: dict[Any, list[int]] = defaultdict(list)
        for step, control in enumerate(self.track.controls):
            self._steps[control].append(step)
        self._matter: list[Words] = []
        self._listed: set[Cell] = set()
        self._steps_left = 0
        # The same ones each time: an explanation must not change.
        self._random = np.random.default_rng(len(self.track))

    def slice(self, targets: Iterable[Cell]) -> Slice:
        """What determined cells after the last instruction of the track."""
        count = len(self.track)
        cells = {cell: self._word(self.track.last, cell) for cell in sorted(targets)}
        self._matter = [{}] * count + [cells]
        self._listed = set()
        self._steps_left = _MOST_STEPS_OF_ALL
        wanted, causes = cells, []
        outside: Words = {}
        for step in reversed(range(count)):
            cause, cells = self._back(step, cells)
            if cause is not None:
                causes.append(cause)
                outside |= {cell: word for cell, word in (cause.read | cause.decided).items() if not cell.is_state}
                self._listed = set(outside)
            self._matter[step] = cells
        made = {cell for cause in causes for cell in cause.made}
        return Slice(
            targets=wanted,
            causes=tuple(causes),
            constants={cell: word for cell, word in sorted(outside.items()) if cell.array != MEMORY},
            elements={p: word for p, word in sorted(outside.items()) if p.array == MEMORY and p not in made},
            start={cell: word for cell, word in cells.items() if cell.is_state},
            first=self.track.first,
        )

    def _back(self, step: int, cells: Words) -> tuple[Cause | None, Words]:
        """The instruction at a step if it matters, and the relevant cells before it."""
        state = self.track.state(step)
        unit = self._unit(state.control.pc)
        before = {cell: self.probe.word(cell) for cell in cells if cell.array == MEMORY}
        literals = [word for each in self._launch.program.image.code[unit : unit + _GROUP_UNITS] for word in each]
        determination = Determination(self.probe, state, literals, before)
        touched = determination.touched(cells)
        with self._memory_kept(determination.stores):
            causes = determination.causes(touched) if touched else {}
            # What is only what it was did not matter here.
            causes = {target: found for target, found in causes.items() if found != {target}}
            decided = self._decisions(determination, step, cells) if determination.may_branch else set()
        if not causes and not decided:
            return None, cells
        read = self._words(state, {cell for found in causes.values() for cell in found})
        path = self._words(state, decided)
        made = {target: cells[target] for target in causes}
        kept = {cell: word for cell, word in cells.items() if cell not in causes}
        matter = {
            p: word for p, word in (kept | read | path).items() if p.is_state or (p.array == MEMORY and self._stores)
        }
        reasons = {target: tuple(sorted(found)) for target, found in causes.items()}
        slots = units_of(self._launch.program, state.control, unit, made)
        return Cause(self.track.first + step, unit, slots, made, reasons, read, path), matter

    @contextmanager
    def _memory_kept(self, may_store: bool) -> Iterator[None]:
        """Undo what is stored past the caches in a block."""
        kept = Kept.of_areas(self._launch, self.track.last.i) if self._stores and may_store else None
        try:
            yield
        finally:
            if kept is not None:
                kept.restore()

    def _words(self, state: Batch[Any], cells: Iterable[Cell]) -> Words:
        return {cell: self._word(state, cell) for cell in sorted(cells)}

    def _word(self, state: Batch[Any], cell: Cell) -> Any:
        return words(state, cell)[0] if cell.is_state else self.probe.word(cell)

    # Where else it could have gone.

    def _decisions(self, determination: Determination, step: int, cells: Words) -> set[Cell]:
        """Control dependences: cells with whose other words it would have branched, and relevant cells changed."""
        lanes = {cell.lane for cell in cells if cell.lane != ALL_LANES}
        found: set[Cell] = set()
        for elsewhere in determination.elsewhere(lanes):
            found |= elsewhere.faulted
            if elsewhere.states:
                different, taken = self._different(elsewhere, step)
                # What the other path reads may be equal by chance: the control dependence must not follow from that.
                free = sorted(cell for cell in taken - self._listed if cell.array in _WORDS)
                for _ in range(_TRIES if free and len(different) < len(elsewhere.cells) else 0):
                    with self.probe.all_changed(free, self._random.integers(1 << 32, size=len(free)).tolist()):
                        different |= self._different(elsewhere, step)[0]
                found |= {elsewhere.cells[copy] for copy in different}
        return found

    def _different(self, elsewhere: Elsewhere, step: int) -> tuple[set[int], set[Cell]]:
        """The copies in which relevant cells differ at the join of their path and the one that was taken.

        The second set are the constants that they took on their path.
        """
        with self._memory_kept(True):
            return self._walked(elsewhere, step)

    def _walked(self, elsewhere: Elsewhere, step: int) -> tuple[set[int], set[Cell]]:
        taken: set[Cell] = set()
        waiting: dict[Any, list[Batch[Any]]] = defaultdict(list)
        different: set[int] = set()

        def arrive(states: Iterable[tuple[Batch[Any], bool]]) -> None:
            for state, has_ended in states:
                join = len(self.track) if has_ended else self._join(state.control, step)
                if has_ended and not self.track.has_ended:
                    different.update(state.order.tolist())
                elif join is None:
                    waiting[state.control].append(state)
                else:
                    different.update(state.order[self._differs(state, join)].tolist())

        # A step may change the batch itself.
        arrive((state.copy(), has_ended) for state, has_ended in elsewhere.states)
        for _ in range(min(_MOST_STEPS, self._steps_left)):
            if not waiting:
                break
            self._steps_left -= 1
            first, *others = waiting.pop(min(waiting, key=lambda control: control.position))
            batch = first.merge(others)
            stepped = set(batch.order.tolist())
            states = self.probe.step_states(batch)
            taken |= self.probe.taken
            different |= stepped.difference(*(state.order.tolist() for state, _ in states))
            arrive(states)
        different.update(copy for states in waiting.values() for state in states for copy in state.order.tolist())
        return different, taken

    def _join(self, control: Any, step: int) -> int | None:
        """The join: the first step after one at which the wavefront was where the other path is now."""
        if not self.track.has_ended and control == self.track.last.control:
            return len(self.track)
        steps: Sequence[int] = self._steps.get(control, [])
        index = bisect_right(steps, step)
        return steps[index] if index < len(steps) else None

    def _differs(self, batch: Batch[Any], step: int) -> npt.NDArray[np.bool_]:
        """Which wavefronts of the batch [wavefronts] have other words in relevant cells at a step."""
        result = np.zeros(batch.wavefronts, bool)
        for cell, word in self._matter[step].items():
            if cell.is_state:
                result |= words(batch, cell) != word if exists(batch, cell) else True
        return result
