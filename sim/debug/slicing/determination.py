"""What determines the words that an instruction leaves: found by executing it with other words.

The places that an instruction touches are known from how it indexes the state. Of these a place matters if some other
word in it alone makes a difference; those that make none alone are then changed together, since of two places each may
be enough, and are taken back one by one until nothing that is left makes a difference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ctm.rtl.isa.limits import QUAD, WORD_BYTES
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.debug.slicing.place import ALL_LANES, FRAMES, ITEMS, MEMORY, SHARE, Place, exists, state_arrays, words
from ctm.sim.debug.slicing.probing import ENDED, Changes, Copies, Probe
from ctm.sim.debug.slicing.recording import Recording
from ctm.sim.debug.slicing.substitutes import Substitutes
from ctm.sim.debug.stopping.stores import Area
from ctm.sim.golden.dpp.batch import Batch, Mask
from ctm.sim.golden.r700.execution import CONTROL

_JOINT = 12
"""Copies in which many places are changed together."""

_FLOW = (InstructionType.FC.name, CONTROL)
"""Units of both instruction sets that decide where a wavefront goes on."""

_PAIRED = 2
"""Copies for each pair of a mask and a word."""

Causes = Mapping[Place, frozenset[Place]]
"""For each place behind an instruction, those in front of it that determine it."""


class Elsewhere(NamedTuple):
    """Copies of a wavefront that went on elsewhere, each with another word in the place `places[order]`.

    `parts` are their states, each with whether it has ended; `faulted` are places of those that faulted.
    """

    places: Sequence[Place]
    parts: Sequence[tuple[Batch[Any], bool]]
    faulted: frozenset[Place]


class Determination:
    """One instruction of a wavefront, which is executed with `state` in front of it.

    `literals` are words of its code. `before` are the bytes of places in memory in front of it.
    """

    def __init__(self, probe: Probe, state: Batch[Any], literals: Sequence[int], before: Mapping[Place, bytes]) -> None:
        self._probe, self._state, self._before = probe, state, before
        self._recording = Recording(state)
        going = probe.step(self._recording.batch)
        journal = probe.journal
        self._has_ended = not going
        self.behind: Batch[Any] = (going or journal.over)[0]
        self.control = ENDED if self._has_ended else self.behind.control
        self.unit = journal.unit
        self._constants = sorted(probe.taken)
        self._reads, self._stores = journal.reads, journal.stores
        self.stores = bool(journal.stores)
        """Whether it writes memory past the caches, if it was for a lane."""
        self._substitutes = Substitutes(state, literals)

    @property
    def may_branch(self) -> bool:
        """Whether the wavefront may go on elsewhere for another state of its lanes or other constants."""
        item = getattr(self.behind.control, "item", 0)
        if self.unit in _FLOW or self._has_ended or item < 0:
            return True
        valid = Place("valid_mask", (), 0)
        return self._recording.may_have_written(self.behind, valid)

    def touched(self, places: Iterable[Place]) -> list[Place]:
        """Those of the places that the instruction may have written."""
        return sorted(place for place in places if self._touches(place))

    def causes(self, targets: Sequence[Place]) -> Causes:
        """What determines each of the places behind the instruction."""
        wanted = _Wanted(self, targets)
        lanes = self._lanes_that_matter(wanted)
        candidates = [place for place in self._candidates(targets) if place.lane in (*lanes, ALL_LANES)]
        found: dict[Place, set[Place]] = {target: set() for target in targets}
        self._one_by_one(candidates, wanted, found)
        self._together(candidates, wanted, found)
        for target in targets:
            if target.array == MEMORY and self._keeps(target, wanted.expected[target]):
                found[target].add(target)
        for place in (*self._constants, *self._elements(lanes)):
            for target in self._outside(place, wanted):
                found[target].add(place)
        return {target: frozenset(places) for target, places in found.items()}

    def elsewhere(self, lanes: Iterable[int]) -> Iterator[Elsewhere]:
        """Where the wavefront would have gone for single changes of lanes' states, and of constants."""
        wanted = set(lanes)
        candidates = [place for place in self._candidates(()) if place.lane in wanted and place.array != "temporaries"]
        changes, tried = self._alone(candidates, ())
        if tried:
            yield self._elsewhere(tried, self._probe.step_copies(changes.applied(self._state)))
        for place in self._constants:
            for word in self._substitutes.outside(self._probe.word(place)):
                with self._probe.changed(place, word):
                    copies = self._probe.step_copies(Changes.none().applied(self._state))
                yield self._elsewhere([place], copies)

    def word_behind(self, place: Place) -> Any:
        """What a place holds behind the instruction: bits, or of memory bytes."""
        return words(self.behind, place)[0] if place.is_state else self._probe.word(place)

    # Inside.

    def _touches(self, place: Place) -> bool:
        if place.array == MEMORY:
            first, size, number = place.index
            area = Area(first, first + size)
            # Lanes that do not store it might have.
            return self._probe.is_live(number) and any(
                area.lanes(addresses, count, np.ones_like(stored)).any()
                for space, count, addresses, stored in self._stores
                if (space == ITEMS) == (number == ITEMS)
            )
        return place.is_state and exists(self.behind, place) and self._recording.may_have_written(self.behind, place)

    def _candidates(self, targets: Sequence[Place]) -> list[Place]:
        """Places of the state that may matter."""
        state, found = self._state, set()
        for name, array in state_arrays(state).items():
            if array.ndim == 1:
                found |= {Place(name, (), lane) for lane in range(state.lanes)}
            else:
                found |= self._recording.accessed(name)
        for depth, masks in enumerate(state.frames):
            found |= {Place(FRAMES, (depth, row), lane) for row in range(len(masks)) for lane in range(state.lanes)}
        if hasattr(state, SHARE):
            found |= self._recording.accessed(SHARE)
        found |= {target for target in targets if target.is_state and exists(state, target)}
        # A branch counter means something where a lane waits.
        return sorted(place for place in found if place.array != "counter" or not state.active[place.lane])

    def _elsewhere(self, places: Sequence[Place], copies: Copies) -> Elsewhere:
        faulted = frozenset(places[copy] for copy in np.flatnonzero(copies.faulted).tolist())
        return Elsewhere(places, copies.elsewhere(self.control), faulted)

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
                for place in candidates:
                    if place.lane == lane and (masks_too or place.array == "temporaries"):
                        changes.change(copies, place, self._substitutes.any_of(place, _JOINT))
            if wanted.has_memory:
                paired = self._paired(changes, [place for place in candidates if place.lane == lane])
                tried |= dict.fromkeys(paired, lane)
        if not tried:
            return own
        differs = np.logical_or.reduce(list(wanted.differ(changes).values()))
        return own | {tried[copy] for copy in np.flatnonzero(differs).tolist()}

    @property
    def _crosses_quads(self) -> bool:
        return bool(self._recording.accessed(SHARE)) if hasattr(self._state, SHARE) else False

    def _alone(self, candidates: Sequence[Place], others: Sequence[Place]) -> tuple[Changes, list[Place]]:
        """Copies with one place changed each, and that place of each."""
        changes, tried = Changes(), []
        for place in candidates:
            substitutes = self._substitutes.of(place, others)
            changes.change(changes.grow(len(substitutes)), place, substitutes)
            tried += [place] * len(substitutes)
        return changes, tried

    def _one_by_one(self, candidates: Sequence[Place], wanted: "_Wanted", found: dict[Place, set[Place]]) -> None:
        changes, tried = self._alone(candidates, candidates)
        if not tried:
            return
        for target, differs in wanted.differ(changes).items():
            found[target] |= {tried[copy] for copy in np.flatnonzero(differs).tolist()}

    def _together(self, candidates: Sequence[Place], wanted: "_Wanted", found: dict[Place, set[Place]]) -> None:
        """Of places that make no difference alone, those without which others would."""
        free = {target: [place for place in candidates if place not in found[target]] for target in wanted.targets}
        changes = Changes()
        copies = {target: self._freed(changes, target, places) for target, places in free.items()}
        differs = wanted.differ(changes)
        for target, places in free.items():
            if differs[target][copies[target].start : copies[target].stop].any():
                found[target] |= self._necessary(places, wanted, target)

    def _necessary(self, places: Sequence[Place], wanted: "_Wanted", target: Place) -> set[Place]:
        """Of places that make a difference together, some without which the others make none."""
        given_up: list[Place] = []
        necessary: set[Place] = set()
        # If the place itself held the same word, or its lane was to write it, it is the latter that people look for.
        for place in sorted(places, key=lambda place: (place != target, self._substitutes.is_mask(place))):
            changes = Changes()
            self._freed(changes, target, [*given_up, place])
            if wanted.differ(changes, [target])[target].any():
                necessary.add(place)
            else:
                given_up.append(place)
        return necessary

    def _freed(self, changes: Changes, target: Place, places: Sequence[Place]) -> range:
        """Copies with any words in places."""
        copies = changes.grow(_JOINT)
        for place in places:
            changes.change(copies, place, self._substitutes.any_of(place, _JOINT))
        return range(copies.start, self._paired(changes, places).stop) if target.array == MEMORY else copies

    def _paired(self, changes: Changes, places: Sequence[Place]) -> range:
        """Copies with a mask and a word changed: a store that was not made, of another word, at the same address."""
        masks = [place for place in places if self._substitutes.is_mask(place)]
        first = changes.count
        for mask in masks:
            for place in places:
                if place not in masks:
                    copies = changes.grow(_PAIRED)
                    changes.change(copies, mask, self._substitutes.of(mask, ()) * _PAIRED)
                    changes.change(copies, place, self._substitutes.any_of(place, _PAIRED))
        return range(first, changes.count)

    def _elements(self, lanes: Iterable[int]) -> list[Place]:
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
                found |= {Place(MEMORY, (int(address), size, number)) for address in chosen}
        return sorted(found)

    def _outside(self, place: Place, wanted: "_Wanted") -> set[Place]:
        """The targets to which a constant or an element of memory makes a difference."""
        found: set[Place] = set()
        for word in self._substitutes.outside(self._probe.word(place)):
            with self._probe.changed(place, word):
                differs = wanted.differ(Changes.none())
            found |= {target for target, differ in differs.items() if differ[0]}
            if len(found) == len(wanted.targets):
                break
        return found

    def differ(self, changes: Changes, expected: Mapping[Place, Any]) -> dict[Place, Mask]:
        """In which copies [copies] places behind the instruction have other words than expected."""
        memory = [place for place in expected if place.array == MEMORY]
        batch = changes.applied(self._state)
        result: dict[Place, Mask] = {place: np.zeros(changes.count, bool) for place in memory}
        if memory:
            for copy in range(changes.count):
                self._store_alone(batch, copy, expected, result)
        if len(memory) < len(expected):
            copies = self._probe.step_copies(batch)
            result |= {
                place: copies.differ(place, word, self.control)
                for place, word in expected.items()
                if place.array != MEMORY
            }
        return result

    def _keeps(self, target: Place, behind: bytes) -> bool:
        """Whether a place in memory holds what it held in front of the instruction."""
        self._probe.put(target, bytes(each ^ 0xFF for each in self._before[target]))
        self._probe.step(Changes.none().applied(self._state))
        found = self._probe.word(target)
        self._probe.put(target, behind)
        return bool(found != behind)

    def _store_alone(
        self, batch: Batch[Any], copy: int, expected: Mapping[Place, Any], result: dict[Place, Mask]
    ) -> None:
        """Memory is one for all copies, so each stores alone."""
        for place in result:
            self._probe.put(place, self._before[place])
        alone = batch.take(np.array([copy]))
        alone.order = np.zeros(1, np.int64)
        self._probe.step(alone)
        for place, differs in result.items():
            differs[copy] = self._probe.word(place) != expected[place]


class _Wanted:
    """The places behind an instruction that are asked for, and what they hold."""

    def __init__(self, determination: Determination, targets: Sequence[Place]) -> None:
        self.targets = targets
        self.has_memory = any(target.array == MEMORY for target in targets)
        self._determination = determination
        self.expected = {target: determination.word_behind(target) for target in targets}

    def differ(self, changes: Changes, targets: Sequence[Place] | None = None) -> dict[Place, Mask]:
        """See `Determination.differ`."""
        expected = self.expected if targets is None else {target: self.expected[target] for target in targets}
        return self._determination.differ(changes, expected)
