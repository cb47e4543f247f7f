"""The command processor, which need not look again at commands that it knows.

Programs that take a millisecond are started again and again by the same commands, and to read these costs a quarter of
that. What they make of the state depends on their words and on the state before, and on nothing else.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ctm.rtl.isa.commands import Command
from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.sim.golden.pe.processor import CommandProcessor
from ctm.sim.golden.pe.state import State

_MOST, _LONGEST = 64, 1 << 12
"""Command buffers that are remembered, and how many words they may have."""

Found = tuple[int, Command, list[int]]
"""A command with its address and its parameters."""


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """Neighbouring commands that set state, without an error, or one that does not.

    `before` and `after` are the state, None for the one; `again` are those that do more than to set it, with their
    distance from the first one in place of the address.
    """

    data: bytes
    before: State | None
    after: State | None
    again: list[Found]


class FastProcessor(CommandProcessor):
    """See `CommandProcessor`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._known: dict[bytes, dict[int, _Stretch]] = {}
        """By the words of a buffer, stretches by their first word."""

    def _commands(self, address: int, dwords: int) -> Iterator[Found]:
        known, place = self._buffer(address, dwords), 0
        while place < dwords:
            at = (address + WORD_BYTES * place) % ADDRESS_SPACE
            stretch = known.get(place)
            if stretch is None or not self._is_as_before(at, stretch):
                stretch = yield from self._look(at, dwords - place)
                known[place] = stretch
            else:
                if stretch.after is not None:
                    self.state = _copied(stretch.after)
                for distance, command, words in stretch.again:
                    yield at + distance, command, words
            place += len(stretch.data) // WORD_BYTES

    def _buffer(self, address: int, dwords: int) -> dict[int, _Stretch]:
        """What is known of a buffer."""
        if dwords > _LONGEST or address + WORD_BYTES * dwords > ADDRESS_SPACE or self._memory.refused_ranges:
            return {}
        if len(self._known) >= _MOST:
            self._known.clear()
        return self._known.setdefault(self._memory.read(address, WORD_BYTES * dwords), {})

    def _is_as_before(self, at: int, stretch: _Stretch) -> bool:
        """Whether a stretch does the same again: programs may have written where commands were."""
        if self._memory.bytes[at : at + len(stretch.data)].tobytes() != stretch.data:
            return False
        return stretch.before is None or self.state == stretch.before

    def _look(self, address: int, dwords: int) -> Generator[Found, None, _Stretch]:
        """Read the commands of a stretch; gives it."""
        before, again, data = _copied(self.state), list[Found](), b""
        for at, command, words in super()._commands(address, dwords):
            sets = command.name.startswith(("set_", "inv_", "init_"))
            if data and not sets:
                break
            # Before it runs: see above.
            data += self._memory.words(at, command.length).tobytes()
            yield at, command, words
            if not sets or "inst" in command.name:
                again.append((at - address, command, words))
            if not sets:
                return _Stretch(data=data, before=None, after=None, again=again)
        return _Stretch(data=data, before=before, after=_copied(self.state), again=again)


def _copied(state: State) -> State:
    """The same state, which no command changes."""
    return replace(
        state,
        inputs=list(state.inputs),
        outputs=list(state.outputs),
        conditional=replace(state.conditional),
        constant_bases=dict(state.constant_bases),
    )
