"""Starts of programs that are remembered, with all that was prepared for them."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from ctm.rtl.isa.limits import ADDRESS_SPACE, BOOL_CONSTANTS, CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.sim.engines.fast.arrangement import Arranged
from ctm.sim.engines.fast.compiler import Code
from ctm.sim.engines.fast.program import Prepared
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import DomainWavefronts
from ctm.sim.golden.pe.state import State
from ctm.sim.memory import Memory

_MOST = 8
"""Starts that are remembered."""
_CONSTANT_WORDS = {
    "set_constf_fmt": CHANNELS * FLOAT_CONSTANTS, "set_consti_fmt": INT_CONSTANTS, "set_constb_fmt": BOOL_CONSTANTS,
}  # fmt: skip

Seen = tuple[Any, ...]
"""All in memory that a launch depends on."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """A launch, and what runs it."""

    launch: Launch[Any]
    prepared: Prepared
    code: Code
    arranged: WeakKeyDictionary[DomainWavefronts, Arranged] = field(default_factory=WeakKeyDictionary)
    """Of wavefronts that were run before."""


class Starts:
    """Launches programs on `golden`; what has the same state and the same bytes of memory is launched once.

    So a program that is started again and again costs a comparison of what it is made of.
    """

    def __init__(self, golden: ArrayCore[Any, Any], kind: str, memory: Memory) -> None:
        self._golden, self._memory = golden, memory
        self._image_bytes = PROGRAM_FORMATS[kind].image_limit
        self._image: tuple[int, bytes] | None = None
        """Base and bytes of what the golden model has loaded."""
        self._is_invalid = True
        self._known: deque[tuple[Seen, State, Start]] = deque(maxlen=_MOST)

    def invalidate_program(self) -> None:
        """Load the program again at the next start, if it is another one."""
        self._is_invalid = True

    def known(self, state: State) -> Start | None:
        """The same start, if it is remembered."""
        self.look_at_image(state)
        seen = self._seen(state)
        return next((start for each, before, start in self._known if each == seen and before == state), None)

    def launch(self, state: State) -> Launch[Any]:
        """Launch a program; see `ArrayCore.launch`."""
        try:
            launch = self._golden.launch(state)
        except BaseException:
            # What is loaded is unknown.
            self._image, self._is_invalid = None, True
            raise
        # Later commands change the unit's state.
        return replace(launch, conditional=replace(launch.conditional))

    def remember(self, state: State, start: Start) -> None:
        """Remember what was launched with this state, if it can be told whether it is the same again."""
        copied = any(memory is not self._memory for memory in start.launch.inputs.cached)
        if self._image is not None and not copied and not self._memory.error_ranges:
            self._known.appendleft((self._seen(state), state.copy(), start))

    def look_at_image(self, state: State) -> None:
        """Let the golden model load the program again, if it is another one."""
        if not self._is_invalid:
            return
        base, end = state.instruction_base, state.instruction_base + self._image_bytes
        image = None
        if end <= ADDRESS_SPACE and not self._memory.error_ranges:
            image = base, self._memory.read(base, self._image_bytes)
        if image is None or image != self._image:
            self._golden.invalidate_program()
            self._image = image
        self._is_invalid = False

    def _seen(self, state: State) -> Seen:
        memory, bases = self._memory, state.constant_bases
        constants = (memory.words(bases[name], count).tobytes() for name, count in _CONSTANT_WORDS.items())
        return self._image, bool(memory.error_ranges), *constants
