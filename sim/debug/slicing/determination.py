"""What determines the words that an instruction leaves: found by executing it with other words.

The cells that an instruction touches are known from how it indexes the state. Of these a cell matters if some other
word in it alone makes a difference; those that make none alone are then changed together, since of two cells each may
be enough, and are taken back one by one until nothing that is left makes a difference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ctm.rtl.isa.limits import QUAD, WORD_BYTES
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.debug.slicing.cell import ALL_LANES, FRAMES, ITEMS, MEMORY, SHARE, Cell, exists, state_arrays, words
from ctm.sim.debug.slicing.probing import ENDED, Changes, Copies, Probe
from ctm.sim.debug.slicing.recording import Recording
from ctm.sim.debug.slicing.substitutes import Substitutes
from ctm.sim.debug.stopping.stores import Area
from ctm.sim.golden.dpp.batch import Batch, Mask
from ctm.sim.golden.r700.execution import CONTROL

_JOINT = 12
"""Copies in which many cells are changed together."""

_FLOW = (InstructionType.FC.name, CONTROL)
"""Units of both instruction sets that decide where a wavefront continues."""

_PAIRED = 2
"""Copies for each pair of a mask and a word."""

Causes = Mapping[Cell, frozenset[Cell]]
"""For each cell after an instruction, those before it that determine it."""


class Elsewhere(NamedTuple):
    """Copies of a wavefront that continued elsewhere, each with another word in the cell `cells[order]`.

    `states` are their states, each with whether it has ended; `faulted` are cells of those that faulted.
    """

    cells: Sequence[Cell]
    states: Sequence[tuple[Batch[Any], bool]]
    faulted: frozenset[Cell]


class Determination:
    """One instruction of a wavefront, which is executed with `state` before it.

    `literals` are words of its code. `before` are the bytes of cells in memory before it.
    """

    def __init__(self, probe: Probe, state: Batch[Any], literals: Sequence[int], before: Mapping[Cell, bytes]) -> None:
        self._probe, self._state, self._before = probe, state, before
        self._recording = Recording(state)
        going = probe.step(self._recording.batch)
        journal = probe.journal
        self._has_ended = not going
        self.after: Batch[Any] = (going or journal.over)[0]
        self.control = ENDED if self._has_ended else self.after.control
        self.unit = journal.unit
        self._constants = sorted(probe.taken)
        self._reads, self._stores = journal.reads, journal.stores
        self.stores = bool(journal.stores)
        """Whether it writes memory past the caches, if it was for a lane."""
        self._substitutes = Substitutes(state, literals)

    @property
    def may_branch(self) -> bool:
        """Whether the wavefront may go on elsewhere for another state of its lanes or other constants."""
        item = getattr(self.after.control, "item", 0)
        if self.unit in _FLOW or self._has_ended or item < 0:
            return True
        valid = Cell("valid_mask", (), 0)
        return self._recording.may_have_written(self.after, valid)

    def touched(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those of the cells that the instruction may have written."""
        return sorted(cell for cell in cells if self._touches(cell))

    def causes(self, targets: Sequence[Cell]) -> Causes:
        """What determines each of the cells after the instruction."""
        wanted = _Wanted(self, targets)
        lanes = self._lanes_that_matter(wanted)
        candidates = [cell for cell in self._candidates(targets) if cell.lane in (*lanes, ALL_LANES)]
        found: dict[Cell, set[Cell]] = {target: set() for target in targets}
        self._one_by_one(candidates, wanted, found)
        self._together(candidates, wanted, found)
        for target in targets:
            if target.array == MEMORY and self._keeps(target, wanted.expected[target]):
                found[target].add(target)
        for cell in (*self._constants, *self._elements(lanes)):
            for target in self._outside(cell, wanted):
                found[target].add(cell)
        return {target: frozenset(cells) for target, cells in found.items()}

    def elsewhere(self, lanes: Iterable[int]) -> Iterator[Elsewhere]:
        """Where the wavefront would have gone for single changes of lanes' states, and of constants."""
        wanted = set(lanes)
        candidates = [cell for cell in self._candidates(()) if cell.lane in wanted and cell.array != "temporaries"]
        changes, tried = self._alone(candidates, ())
        if tried:
            yield self._elsewhere(tried, self._probe.step_copies(changes.applied(self._state)))
        for cell in self._constants:
            for word in self._substitutes.outside(self._probe.word(cell)):
                with self._probe.changed(cell, word):
                    copies = self._probe.step_copies(Changes.none().applied(self._state))
                yield self._elsewhere([cell], copies)

    def word_after(self, cell: Cell) -> Any:
        """What a cell holds after the instruction: bits, or of memory bytes."""
        return words(self.after, cell)[0] if cell.is_state else self._probe.word(cell)

    # Inside.

    def _touches(self, cell: Cell) -> bool:
        if cell.array == MEMORY:
            first, size, number = cell.index
            area = Area(first, first + size)
            # Lanes that do not store it might have.
            return self._probe.is_live(number) and any(
                area.lanes(addresses, count, np.ones_like(stored)).any()
                for space, count, addresses, stored in self._stores
                if (space == ITEMS) == (number == ITEMS)
            )
        return cell.is_state and exists(self.after, cell) and self._recording.may_have_written(self.after, cell)

    def _candidates(self, targets: Sequence[Cell]) -> list[Cell]:
        """Cells of the state that may matter."""
        state, found = self._state, set()
        for name, array in state_arrays(state).items():
            if array.ndim == 1:
                found |= {Cell(name, (), lane) for lane in range(state.lanes)}
            else:
                found |= self._recording.accessed(name)
        for depth, masks in enumerate(state.frames):
            found |= {Cell(FRAMES, (depth, row), lane) for row in range(len(masks)) for lane in range(state.lanes)}
        if hasattr(state, SHARE):
            found |= self._recording.accessed(SHARE)
        found |= {target for target in targets if target.is_state and exists(state, target)}
        # A branch counter means something where a lane waits.
        return sorted(cell for cell in found if cell.array != "counter" or not state.active[cell.lane])

    def _elsewhere(self, cells: Sequence[Cell], copies: Copies) -> Elsewhere:
        faulted = frozenset(cells[copy] for copy in np.flatnonzero(copies.faulted).tolist())
        return Elsewhere(cells, copies.elsewhere(self.control), faulted)

    def _lanes_that_matter(self, wanted: "_Wanted") -> set[int]:
        """Lanes that a target is in, and others whose states make a difference to one."""
        own = {target.lane for target in wanted.targets if target.lane != ALL_LANES}
        others = [lane for lane in range(self._state.lanes) if lane not in own]
        if own and not self._crosses_quads:
            quads = {lane // QUAD for lane in own}
            others = [lane for lane in others if lane // QUAD in quads]
        candidates = self._candidates(wanted.targets)
        changes = Changes()
        tried: dict[int, int] = {}
        for lane in others:
            for masks_too in (False, True):
                copies = changes.grow(_JOINT)
                tried |= dict.fromkeys(copies, lane)
                for cell in candidates:
                    if cell.lane == lane and (masks_too or cell.array == "temporaries"):
                        changes.change(copies, cell, self._substitutes.any_of(cell, _JOINT))
            if wanted.has_memory:
                paired = self._paired(changes, [cell for cell in candidates if cell.lane == lane])
                tried |= dict.fromkeys(paired, lane)
        if not tried:
            return own
        differs = np.logical_or.reduce(list(wanted.differ(changes).values()))
        return own | {tried[copy] for copy in np.flatnonzero(differs).tolist()}

    @property
    def _crosses_quads(self) -> bool:
        return bool(self._recording.accessed(SHARE)) if hasattr(self._state, SHARE) else False

    def _alone(self, candidates: Sequence[Cell], others: Sequence[Cell]) -> tuple[Changes, list[Cell]]:
        """Copies with one cell changed each, and that cell of each."""
        changes, tried = Changes(), []
        for cell in candidates:
            substitutes = self._substitutes.of(cell, others)
            changes.change(changes.grow(len(substitutes)), cell, substitutes)
            tried += [cell] * len(substitutes)
        return changes, tried

    def _one_by_one(self, candidates: Sequence[Cell], wanted: "_Wanted", found: dict[Cell, set[Cell]]) -> None:
        changes, tried = self._alone(candidates, candidates)
        if not tried:
            return
        for target, differs in wanted.differ(changes).items():
            found[target] |= {tried[copy] for copy in np.flatnonzero(differs).tolist()}

    def _together(self, candidates: Sequence[Cell], wanted: "_Wanted", found: dict[Cell, set[Cell]]) -> None:
        """Of cells that make no difference alone, those without which others would."""
        free = {target: [cell for cell in candidates if cell not in found[target]] for target in wanted.targets}
        changes = Changes()
        copies = {target: self._freed(changes, target, cells) for target, cells in free.items()}
        differs = wanted.differ(changes)
        for target, cells in free.items():
            if differs[target][copies[target].start : copies[target].stop].any():
                found[target] |= self._necessary(cells, wanted, target)

    def _necessary(self, cells: Sequence[Cell], wanted: "_Wanted", target: Cell) -> set[Cell]:
        """Of cells that make a difference together, some without which the others make none."""
        given_up: list[Cell] = []
        necessary: set[Cell] = set()
        # If the cell itself held the same word, or its lane was to write it, users look for the latter.
        for cell in sorted(cells, key=lambda cell: (cell != target, self._substitutes.is_mask(cell))):
            changes = Changes()
            self._freed(changes, target, [*given_up, cell])
            if wanted.differ(changes, [target])[target].any():
                necessary.add(cell)
            else:
                given_up.append(cell)
        return necessary

    def _freed(self, changes: Changes, target: Cell, cells: Sequence[Cell]) -> range:
        """Copies with any words in cells."""
        copies = changes.grow(_JOINT)
        for cell in cells:
            changes.change(copies, cell, self._substitutes.any_of(cell, _JOINT))
        return range(copies.start, self._paired(changes, cells).stop) if target.array == MEMORY else copies

    def _paired(self, changes: Changes, cells: Sequence[Cell]) -> range:
        """Copies with a mask and a word changed: a store that was not made, of another word, at the same address."""
        masks = [cell for cell in cells if self._substitutes.is_mask(cell)]
        first = changes.count
        for mask in masks:
            for cell in cells:
                if cell not in masks:
                    copies = changes.grow(_PAIRED)
                    changes.change(copies, mask, self._substitutes.of(mask, ()) * _PAIRED)
                    changes.change(copies, cell, self._substitutes.any_of(cell, _PAIRED))
        return range(first, changes.count)

    def _elements(self, lanes: Iterable[int]) -> list[Cell]:
        """What lanes read of memory."""
        inputs, found = self._probe.launch.inputs, set()
        for source, addresses, reading in self._reads:
            if isinstance(source, int):
                number, size = source, WORD_BYTES
            else:
                number = next(n for n, each in enumerate(inputs.buffers) if each is source)
                size = source.element.element_bytes
            for lane in lanes:
                chosen = addresses[:, lane][reading[:, lane]]
                found |= {Cell(MEMORY, (int(address), size, number)) for address in chosen}
        return sorted(found)

    def _outside(self, cell: Cell, wanted: "_Wanted") -> set[Cell]:
        """The targets to which a constant or an element of memory makes a difference."""
        found: set[Cell] = set()
        for word in self._substitutes.outside(self._probe.word(cell)):
            with self._probe.changed(cell, word):
                differs = wanted.differ(Changes.none())
            found |= {target for target, differ in differs.items() if differ[0]}
            if len(found) == len(wanted.targets):
                break
        return found

    def differ(self, changes: Changes, expected: Mapping[Cell, Any]) -> dict[Cell, Mask]:
        """In which copies [copies] cells after the instruction have other words than expected."""
        memory = [cell for cell in expected if cell.array == MEMORY]
        batch = changes.applied(self._state)
        result: dict[Cell, Mask] = {cell: np.zeros(changes.count, bool) for cell in memory}
        if memory:
            for copy in range(changes.count):
                self._store_alone(batch, copy, expected, result)
        if len(memory) < len(expected):
            copies = self._probe.step_copies(batch)
            result |= {
                cell: copies.differ(cell, word, self.control) for cell, word in expected.items() if cell.array != MEMORY
            }
        return result

    def _keeps(self, target: Cell, word: bytes) -> bool:
        """Whether a cell in memory holds what it held before the instruction."""
        self._probe.put(target, bytes(each ^ 0xFF for each in self._before[target]))
        self._probe.step(Changes.none().applied(self._state))
        found = self._probe.word(target)
        self._probe.put(target, word)
        return bool(found != word)

    def _store_alone(
        self, batch: Batch[Any], copy: int, expected: Mapping[Cell, Any], result: dict[Cell, Mask]
    ) -> None:
        """Memory is one for all copies, so each stores alone."""
        for cell in result:
            self._probe.put(cell, self._before[cell])
        alone = batch.take(np.array([copy]))
        alone.order = np.zeros(1, np.int64)
        self._probe.step(alone)
        for cell, differs in result.items():
            differs[copy] = self._probe.word(cell) != expected[cell]


class _Wanted:
    """The requested cells after an instruction, and what they hold."""

    def __init__(self, determination: Determination, targets: Sequence[Cell]) -> None:
        self.targets = targets
        self.has_memory = any(target.array == MEMORY for target in targets)
        self._determination = determination
        self.expected = {target: determination.word_after(target) for target in targets}

    def differ(self, changes: Changes, targets: Sequence[Cell] | None = None) -> dict[Cell, Mask]:
        """See `Determination.differ`."""
        expected = self.expected if targets is None else {target: self.expected[target] for target in targets}
        return self._determination.differ(changes, expected)
