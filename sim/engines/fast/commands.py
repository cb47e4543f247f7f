"""The command processor, which keeps the effect of commands that it has read.

Programs that take a millisecond are started again and again by the same commands, and to read these costs a quarter of
that. What they make of the state depends on their words and on the state before, and on nothing else.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ctm.rtl.isa.commands import Command
from ctm.rtl.isa.draws import DRAW_COMMANDS
from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.sim.golden.pe.domain import Domain, DomainWavefronts
from ctm.sim.golden.pe.processor import CommandProcessor
from ctm.sim.golden.pe.state import State

_MOST, _LONGEST = 64, 1 << 12
"""Command buffers that are remembered, and how many words they may have."""
_WALKS, _FEW = 16, 4
"""Domains whose walk is remembered, and the most batches of `batch_lanes` pixels that they may have."""
_WRITE = ("start_program", "read_perf_counters", "start_draw", "read_strm")
"""Commands that may write to memory."""

_OF_DRAWS = frozenset(command.word for command in DRAW_COMMANDS)

Found = tuple[int, Command, list[int]]
"""A command with its address and its parameters."""


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """Neighbouring commands that set state, without an error, or one command that does not.

    `words` is their number of words. `before` and `after` are the state; None for the one command. `again` are commands
    that do more than set it, with their distance from the first one in bytes instead of the address. `writes`: the one
    command may write to memory.
    """

    words: int
    before: State | None
    after: State | None
    again: list[Found]
    writes: bool


class FastProcessor(CommandProcessor):
    """As `CommandProcessor`; commands and walks that it knows take less time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._known: dict[bytes, dict[int, _Stretch]] = {}
        """By the words of a buffer, stretches by their first word."""
        self._walks: dict[Domain, list[DomainWavefronts]] = {}

    def _commands(self, address: int, dwords: int) -> Iterator[Found]:
        known, index = self._buffer(address, dwords), 0
        while index < dwords:
            at = (address + WORD_BYTES * index) % ADDRESS_SPACE
            stretch = known.get(index)
            if stretch is None or (stretch.before is not None and self.state != stretch.before):
                stretch = yield from self._look(at, dwords - index)
                known[index] = stretch
            else:
                if stretch.after is not None:
                    self.state = stretch.after
                for distance, command, words in stretch.again:
                    yield at + distance, command, words
            index += stretch.words
            if stretch.writes:
                known = self._buffer(address, dwords)

    def _buffer(self, address: int, dwords: int) -> dict[int, _Stretch]:
        """What is known of a buffer with the words that it has now."""
        if dwords > _LONGEST or address + WORD_BYTES * dwords > ADDRESS_SPACE or self._memory.error_ranges:
            return {}
        if len(self._known) >= _MOST:
            self._known.clear()
        return self._known.setdefault(self._memory.read(address, WORD_BYTES * dwords), {})

    def _look(self, address: int, dwords: int) -> Generator[Found, None, _Stretch]:
        """Read the commands of a stretch; gives it."""
        before, again, count = self.state, list[Found](), 0
        # Stretches have the state before, which is changed by what is read here, and by nothing else.
        self.state = before.copy()
        for at, command, words in super()._commands(address, dwords):
            # Those of draws set another state, which is not kept here.
            sets = command.name.startswith(("set_", "inv_", "init_")) and command.word not in _OF_DRAWS
            if count and not sets:
                break
            yield at, command, words
            count += command.length
            if not sets or "inst" in command.name:
                again.append((at - address, command, words))
            if not sets:
                return _Stretch(words=count, before=None, after=None, again=again, writes=command.name in _WRITE)
        return _Stretch(words=count, before=before, after=self.state, again=again, writes=False)

    def _wavefronts(self, domain: Domain) -> Iterable[DomainWavefronts]:
        """Those of small domains are always the same objects, which others may know."""
        lanes = self._core.lanes
        if domain.count(lanes) * lanes > _FEW * self._batch_lanes:
            return super()._wavefronts(domain)
        if domain not in self._walks:
            if len(self._walks) >= _WALKS:
                self._walks.clear()
            self._walks[domain] = list(super()._wavefronts(domain))
            for wavefronts in self._walks[domain]:
                for array in (wavefronts.order, wavefronts.i, wavefronts.j):
                    array.flags.writeable = False
        return self._walks[domain]
