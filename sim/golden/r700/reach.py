"""Which CF instructions of a program can be reached, whatever its masks and constants are."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from ctm.rtl.isa.r700.control_flow import WITHOUT_TARGET, CfOperation, Condition
from ctm.sim.golden.r700.instruction import Flow, Illegal, Word


class _Code(Protocol):
    def __len__(self) -> int: ...

    def word(self, address: int) -> Word | Illegal: ...


def reached(code: _Code, start: int) -> Mapping[int, Word]:
    """The legal CF instructions that can be reached from `start`, by their addresses."""
    words = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in words or address >= len(code):
            continue
        word = code.word(address)
        words[address] = word
        if not isinstance(word, Illegal):
            waiting += _followers(address, word)
    return {address: word for address, word in words.items() if not isinstance(word, Illegal)}


def _followers(address: int, word: Word) -> Iterator[int]:
    if word.ends:
        return
    if not (isinstance(word, Flow) and _never_goes_on(word)):
        yield address + 1
    if isinstance(word, Flow) and word.operation not in WITHOUT_TARGET:
        yield word.target


def _never_goes_on(word: Flow) -> bool:
    """Whether the next word is never executed after it: a jump that is always taken, a return of all pixels."""
    if word.operation is CfOperation.RETURN:
        return word.condition is Condition.ACTIVE and not word.valid_pixels
    return word.operation is CfOperation.JUMP and word.condition is Condition.FALSE
