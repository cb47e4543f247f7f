"""Walks back from places of a wavefront to what determined their words.

In front of every instruction there is a set of places that matter. An instruction that may have written one of them
puts what determines it in its place; one that could have sent the wavefront elsewhere counts if places that matter
would then have been others where the two ways meet again.
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
from ctm.sim.debug.slicing.determination import Determination, Elsewhere
from ctm.sim.debug.slicing.place import ALL_LANES, FLOATS, MEMORY, PRIMITIVE, Place, exists, words
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
"""Runs of another way with random constants."""
_MOST_STEPS = 20_000
"""Instructions of another way that are executed to see where it meets the one that was taken."""

Words = dict[Place, Any]


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
        Places that it wrote, or kept where it could have written them, with their words behind it.
    reasons
        For each of these the places that determined it.
    read
        The words of all of these in front of it.
    decided
        Places that determined where the wavefront went on, with their words.
    """

    step: int
    unit: int
    slots: tuple[int, ...]
    made: Words
    reasons: Mapping[Place, tuple[Place, ...]]
    read: Words
    decided: Words


@dataclass(frozen=True)
class Slice:
    """What determined the words in `targets`: instructions, the latest one first, and where it all began.

    `constants` and `elements` of memory were read. `start` are places in front of instruction `first`: that of the
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
        self._listed: set[Place] = set()
        # The same ones each time: an answer must not change.
        self._random = np.random.default_rng(len(self.track))

    def slice(self, targets: Iterable[Place]) -> Slice:
        """What determined places behind the last instruction of the track."""
        count = len(self.track)
        places = {place: self._word(self.track.last, place) for place in sorted(targets)}
        self._matter = [{}] * count + [places]
        self._listed = set()
        wanted, causes = places, []
        outside: Words = {}
        for step in reversed(range(count)):
            cause, places = self._back(step, places)
            if cause is not None:
                causes.append(cause)
                outside |= {place: word for place, word in (cause.read | cause.decided).items() if not place.is_state}
                self._listed = set(outside)
            self._matter[step] = places
        made = {place for cause in causes for place in cause.made}
        return Slice(
            targets=wanted,
            causes=tuple(causes),
            constants={place: word for place, word in sorted(outside.items()) if place.array != MEMORY},
            elements={p: word for p, word in sorted(outside.items()) if p.array == MEMORY and p not in made},
            start={place: word for place, word in places.items() if place.is_state},
            first=self.track.first,
        )

    def _back(self, step: int, places: Words) -> tuple[Cause | None, Words]:
        """The instruction at a step if it matters, and the places that matter in front of it."""
        state = self.track.state(step)
        unit = self._unit(state.control.pc)
        before = {place: self.probe.word(place) for place in places if place.array == MEMORY}
        literals = [word for each in self._launch.program.image.code[unit : unit + _GROUP_UNITS] for word in each]
        determination = Determination(self.probe, state, literals, before)
        touched = determination.touched(places)
        with self._memory_kept(determination.stores):
            causes = determination.causes(touched) if touched else {}
            # What is only what it was did not matter here.
            causes = {target: found for target, found in causes.items() if found != {target}}
            decided = self._decisions(determination, step, places) if determination.may_branch else set()
        if not causes and not decided:
            return None, places
        read = self._words(state, {place for found in causes.values() for place in found})
        path = self._words(state, decided)
        made = {target: places[target] for target in causes}
        kept = {place: word for place, word in places.items() if place not in causes}
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

    def _words(self, state: Batch[Any], places: Iterable[Place]) -> Words:
        return {place: self._word(state, place) for place in sorted(places)}

    def _word(self, state: Batch[Any], place: Place) -> Any:
        return words(state, place)[0] if place.is_state else self.probe.word(place)

    # Where else it could have gone.

    def _decisions(self, determination: Determination, step: int, places: Words) -> set[Place]:
        """Places with other words in which it would have gone elsewhere, so that places that matter were others."""
        lanes = {place.lane for place in places if place.lane != ALL_LANES}
        found: set[Place] = set()
        for elsewhere in determination.elsewhere(lanes):
            found |= elsewhere.faulted
            if elsewhere.parts:
                different, taken = self._different(elsewhere, step)
                # What the other way reads may be what it is by chance: that it was not gone must not rest on that.
                free = sorted(place for place in taken - self._listed if place.array in _WORDS)
                for _ in range(_TRIES if free and len(different) < len(elsewhere.places) else 0):
                    with self.probe.all_changed(free, self._random.integers(1 << 32, size=len(free)).tolist()):
                        different |= self._different(elsewhere, step)[0]
                found |= {elsewhere.places[copy] for copy in different}
        return found

    def _different(self, elsewhere: Elsewhere, step: int) -> tuple[set[int], set[Place]]:
        """The copies in which places that matter are others where their way meets the one that was taken.

        Behind them are the constants that they took on their way.
        """
        with self._memory_kept(True):
            return self._walked(elsewhere, step)

    def _walked(self, elsewhere: Elsewhere, step: int) -> tuple[set[int], set[Place]]:
        taken: set[Place] = set()
        waiting: dict[Any, list[Batch[Any]]] = defaultdict(list)
        different: set[int] = set()

        def arrive(parts: Iterable[tuple[Batch[Any], bool]]) -> None:
            for part, has_ended in parts:
                meeting = len(self.track) if has_ended else self._meeting(part.control, step)
                if has_ended and not self.track.has_ended:
                    different.update(part.order.tolist())
                elif meeting is None:
                    waiting[part.control].append(part)
                else:
                    different.update(part.order[self._differs(part, meeting)].tolist())

        # A step may change the batch itself.
        arrive((part.copy(), has_ended) for part, has_ended in elsewhere.parts)
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            first, *others = waiting.pop(min(waiting, key=lambda control: control.position))
            batch = first.merge(others)
            stepped = set(batch.order.tolist())
            parts = self.probe.step_parts(batch)
            taken |= self.probe.taken
            different |= stepped.difference(*(part.order.tolist() for part, _ in parts))
            arrive(parts)
        different.update(copy for parts in waiting.values() for part in parts for copy in part.order.tolist())
        return different, taken

    def _meeting(self, control: Any, step: int) -> int | None:
        """The first step behind one at which the wavefront was where the other way is now."""
        if not self.track.has_ended and control == self.track.last.control:
            return len(self.track)
        steps: Sequence[int] = self._steps.get(control, [])
        place = bisect_right(steps, step)
        return steps[place] if place < len(steps) else None

    def _differs(self, batch: Batch[Any], step: int) -> npt.NDArray[np.bool_]:
        """Which wavefronts of the batch [wavefronts] have other words in places that matter at a step."""
        result = np.zeros(batch.wavefronts, bool)
        for place, word in self._matter[step].items():
            if place.is_state:
                result |= words(batch, place) != word if exists(batch, place) else True
        return result
