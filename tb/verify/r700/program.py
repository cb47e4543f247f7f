"""R700 programs as lists of items: CF instructions, and the groups and fetches of the clauses that they start."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

from ctm.rtl.isa.r700.control_flow import CF_ALU_DWORD0, CF_ALU_DWORD1, CF_DWORD0, CF_DWORD1
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.r700.program import values_of
from ctm.rtl.isa.word import replace as replace_fields
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.words import Word, words
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import Illegal
from ctm.sim.golden.r700.program import Code
from ctm.tb.verify import listing

_COUNT_BITS = 3
_PADDING = (0, 0)

assembled = partial(listing.assembled, kind=Executable)
"""The program of a listing; errors as `listing.assembled`."""


@lru_cache(maxsize=8)
def code_of(executable: Executable) -> Code:
    """A program's code, decoded where it is used."""
    return Code(executable.code, Information(**values_of(executable.information)))


@dataclass(frozen=True)
class _Started:
    """A CF instruction that can be reached, and the units of each group or fetch of its clause."""

    word: Word
    clause: tuple[tuple[Unit, ...], ...] = ()


class Program:
    """A program taken apart. Items are numbered in the order of the CF instructions, each before its clause."""

    def __init__(self, executable: Executable) -> None:
        self._executable = executable

    @cached_property
    def _started(self) -> tuple[_Started, ...]:
        executable = self._executable
        return tuple(_Started(word, self._clause(word)) for word in words(executable.code, executable.start))

    def _clause(self, word: Word) -> tuple[tuple[Unit, ...], ...]:
        decoded = code_of(self._executable)
        if not word.units or isinstance(decoded.word(word.address), Illegal):
            return ()
        code, first = self._executable.code, word.fields["addr"]
        clause = decoded.clause(word.address)
        if clause is None:
            return ()
        starts = list(clause.addresses)
        ends = [*starts[1:], first + word.units]
        return tuple(tuple(code[at:end]) for at, end in zip(starts, ends, strict=True))

    @property
    def size(self) -> int:
        """How many items it has."""
        return sum(1 + len(each.clause) for each in self._started)

    def kept(self, items: Sequence[int]) -> Executable | None:
        """The program with these items only; without its clause a CF instruction that starts one is gone, too.

        Jumps go to the next CF instruction that is left. None if nothing is, or if what is last does not end the
        program, though it did: what follows the CF instructions are clauses.
        """
        left = list(self._left(set(items)))
        if not left or _ends(self._started[-1]) and not _ends(left[-1]):
            return None
        addresses = [each.word.address for each in left]
        code: list[Unit] = []
        after: list[Unit] = []
        for each in left:
            at = len(left) + len(after)
            if each.clause and not each.word.is_alu and at % FETCH_UNITS:
                after.append(_PADDING)
                at += 1
            code.append(self._moved(each, at, addresses))
            after += [unit for units in each.clause for unit in units]
        start = bisect_left(addresses, self._executable.start)
        return replace(self._executable, code=(*code, *after), start=min(start, len(left) - 1), lines=None)

    def _left(self, items: set[int]) -> Iterator[_Started]:
        number = 0
        for each in self._started:
            own, inner = number, range(number + 1, number + 1 + len(each.clause))
            number = inner.stop
            clause = tuple(units for item, units in zip(inner, each.clause, strict=True) if item in items)
            if own in items and (clause or not each.clause):
                yield _Started(each.word, clause)

    def _moved(self, each: _Started, at: int, addresses: Sequence[int]) -> Unit:
        """The words of a CF instruction whose clause begins at `at`, among CF instructions from these addresses."""
        low, high = self._executable.code[each.word.address]
        units = sum(map(len, each.clause))
        if each.word.is_export or each.word.units and not each.clause:
            # A CF instruction whose clause is outside of the code does not change.
            return low, high
        if each.word.is_alu:
            return replace_fields(CF_ALU_DWORD0, low, addr=at), replace_fields(CF_ALU_DWORD1, high, count=units - 1)
        if each.clause:
            count = units // FETCH_UNITS - 1
            counts = {"count": count & (1 << _COUNT_BITS) - 1, "count_3": count >> _COUNT_BITS}
            return replace_fields(CF_DWORD0, low, addr=at), replace_fields(CF_DWORD1, high, **counts)
        old = each.word.fields["addr"]
        beyond = old > addresses[-1]
        return replace_fields(CF_DWORD0, low, addr=old if beyond else bisect_left(addresses, old)), high


def _ends(each: _Started) -> bool:
    return bool(each.word.fields.get("end_of_program"))
